import { parseArgs } from 'node:util'
import { MAX_SHARDS } from '../../src/config/config.ts'
import { readersOf } from '../usage.ts'

/**
 * The segments of the measured indices: many and small right after the load, or merged into one, as
 * most orders of an index are that was written to for months.
 */
export type IndexState = 'filled' | 'merged'

const LARGEST_ABOUT = 'orders of the largest account of the sizes'
const WAITING_ABOUT = 'deliveries that wait for an endpoint to work again'
const LOAD_ABOUT = 'source orders of a load, of a reindex, and in the index before the lag'

/** Each with its least, greatest and default value. */
const INTEGERS = {
  orders: [5_000, 10_000_000, 200_000, 'orders to load'],
  seconds: [1, 600, 8, 'seconds of each measurement'],
  shards: [1, MAX_SHARDS, 1, 'primary shards of the indices of orders'],
  rounds: [1, 99, 3, 'rounds; the tables show their medians'],
  connections: [1, 256, 8, 'concurrent requests'],
  'load-orders': [1_000, 10_000_000, 100_000, LOAD_ABOUT],
  rate: [10, 10_000, 500, 'changes a second while the lag is measured'],
  largest: [10_000, 10_000_000, 1_000_000, LARGEST_ABOUT],
  dead: [10, 10_000, 1_000, 'webhook endpoints that never respond'],
  idle: [100, 100_000, 10_000, 'webhook endpoints without events'],
  pending: [1_000, 10_000_000, 1_000_000, 'pending deliveries of webhooks'],
  waiting: [1_000, 1_000_000, 100_000, WAITING_ABOUT],
} as const

interface Named {
  name: string
  about: string
}

interface NamedPart extends Named {
  measurements?: readonly Named[]
}

/** What to measure, and how. */
export type BenchOptions = ReturnType<ReturnType<typeof benchUsage>['readOptions']>

/** The readers of the arguments, with an error that shows the usage. */
export function benchUsage(parts: readonly NamedPart[]) {
  const { parsed, readInteger, refuse } = readersOf(renderUsage(parts))

  function readParts(only: string | undefined): readonly string[] {
    const known = parts.map(({ name }) => name)
    if (only === undefined) return known
    if (known.includes(only)) return [only]
    return refuse(`--only must be one of ${known.join(', ')}, not "${only}"`)
  }

  function readMeasurements(chosen: string | undefined): readonly string[] {
    const known = parts.flatMap(({ measurements = [] }) => measurements.map(({ name }) => name))
    if (chosen === undefined) return known
    if (known.includes(chosen)) return [chosen]
    return refuse(`--measurement must be one of ${known.join(', ')}, not "${chosen}"`)
  }

  return {
    refuse,

    /** @throws UsageError */
    readOptions(args: readonly string[]) {
      const values = parsed(() => parse(args))
      const integer = (name: keyof typeof INTEGERS) => {
        const [from, to, byDefault] = INTEGERS[name]
        return readInteger(`--${name}`, values[name] ?? `${byDefault}`, from, to)
      }
      if (values.record && values['cpu-prof'] !== undefined) {
        refuse('--record: a profiled service is slower, so record a run without --cpu-prof')
      }
      const states: IndexState[] = values.merged ? ['filled', 'merged'] : ['filled']
      return {
        orders: integer('orders'),
        seconds: integer('seconds'),
        shards: integer('shards'),
        rounds: integer('rounds'),
        connections: integer('connections'),
        loadOrders: integer('load-orders'),
        rate: integer('rate'),
        largest: integer('largest'),
        dead: integer('dead'),
        idle: integer('idle'),
        pending: integer('pending'),
        waiting: integer('waiting'),
        parts: readParts(values.only),
        measurements: readMeasurements(values.measurement),
        against: values.against,
        cpuProf: values['cpu-prof'],
        states,
        json: values.json,
        record: values.record,
        chart: values.chart,
      }
    },
  }
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean', default: false } as const
  const options = {
    ...{ orders: text, seconds: text, shards: text, rounds: text, connections: text },
    ...{
      'load-orders': text,
      rate: text,
      largest: text,
      dead: text,
      idle: text,
      pending: text,
      waiting: text,
    },
    ...{ only: text, measurement: text, against: text, json: text, 'cpu-prof': text },
    ...{ merged: flag, record: flag, chart: flag },
  }
  return parseArgs({ args: [...args], options }).values
}

function renderUsage(parts: readonly NamedPart[]): string {
  const list = (all: readonly Named[]) =>
    all.map(({ name, about }) => `${line('', '')}  ${name.padEnd(12)} ${about}`).join('\n')
  const line = (option: string, about: string) => `  ${option.padEnd(18)} ${about}`
  const integers = Object.entries(INTEGERS).map(([name, [from, to, byDefault, about]]) =>
    line(`--${name} N`, `${about}: ${from} to ${to} (default ${byDefault})`),
  )
  return `usage: npm run -s bench -- [options]
${integers.join('\n')}
${line('--only PART', 'one of:')}
${list(parts)}
${line('--measurement M', 'of the part webhooks, one of:')}
${list(parts.flatMap(({ measurements = [] }) => measurements))}
${line('--against DIR', 'another checkout, whose index load the part load measures too')}
${line('--merged', 'measure once more, with each index merged into one segment')}
${line('--cpu-prof DIR', 'write a CPU profile of each measured service')}
${line('--json FILE', 'write every figure to a file as well')}
${line('--record', 'add the ratios to the history and redraw the chart')}
${line('--chart', 'redraw the chart from the history, and measure nothing')}
The bench uses OPENSEARCH_URL and REDIS_URL where they are set, and starts its own services elsewhere.
`
}
