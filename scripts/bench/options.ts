import { parseArgs } from 'node:util'
import { readersOf } from '../usage.ts'

/**
 * The segments of the measured indices: many and small right after the load, or merged into one, as
 * most orders of an index are that was written to for months.
 */
export type IndexState = 'filled' | 'merged'

const LARGEST_ABOUT = 'orders of the largest account of the sizes'
const LOAD_ABOUT = 'source orders of a load, and in the index before the lag'

/** Each with its least, greatest and default value. */
const INTEGERS = {
  orders: [5_000, 10_000_000, 200_000, 'orders to load'],
  seconds: [1, 600, 8, 'seconds of each measurement'],
  rounds: [1, 99, 3, 'rounds; the tables show their medians'],
  connections: [1, 256, 8, 'concurrent requests'],
  'load-orders': [1_000, 300_000, 100_000, LOAD_ABOUT],
  rate: [10, 10_000, 500, 'changes a second while the lag is measured'],
  largest: [10_000, 10_000_000, 1_000_000, LARGEST_ABOUT],
} as const

interface NamedPart {
  name: string
  about: string
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

  return {
    refuse,

    /** @throws UsageError */
    readOptions(args: readonly string[]) {
      const values = parsed(() => parse(args))
      const integer = (name: keyof typeof INTEGERS) => {
        const [from, to, byDefault] = INTEGERS[name]
        return readInteger(`--${name}`, values[name] ?? `${byDefault}`, from, to)
      }
      const states: IndexState[] = values.merged ? ['filled', 'merged'] : ['filled']
      return {
        orders: integer('orders'),
        seconds: integer('seconds'),
        rounds: integer('rounds'),
        connections: integer('connections'),
        loadOrders: integer('load-orders'),
        rate: integer('rate'),
        largest: integer('largest'),
        parts: readParts(values.only),
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
    ...{ orders: text, seconds: text, rounds: text, connections: text, 'load-orders': text },
    ...{ rate: text, largest: text, only: text, json: text },
    ...{ merged: flag, record: flag, chart: flag },
  }
  return parseArgs({ args: [...args], options }).values
}

function renderUsage(parts: readonly NamedPart[]): string {
  const line = (option: string, about: string) => `  ${option.padEnd(18)} ${about}`
  const integers = Object.entries(INTEGERS).map(([name, [from, to, byDefault, about]]) =>
    line(`--${name} N`, `${about}: ${from} to ${to} (default ${byDefault})`),
  )
  return `usage: npm run -s bench -- [options]
${integers.join('\n')}
${line('--only PART', 'one of:')}
${parts.map(({ name, about }) => `${line('', '')}  ${name.padEnd(12)} ${about}`).join('\n')}
${line('--merged', 'measure once more, with each index merged into one segment')}
${line('--json FILE', 'write every figure to a file as well')}
${line('--record', 'add the ratios to the history and redraw the chart')}
${line('--chart', 'redraw the chart from the history, and measure nothing')}
The bench uses OPENSEARCH_URL and REDIS_URL where they are set, and starts its own services elsewhere.
`
}
