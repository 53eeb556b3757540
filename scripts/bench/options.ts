import { parseArgs } from 'node:util'
import { readersOf } from '../usage.ts'
import { parts } from './parts.ts'

const USAGE = `usage: npm run -s bench -- [options]
  --orders N         how many orders to load: 5000 to 10000000 (default 200000)
  --seconds N        how long each measurement takes: 1 to 600 (default 8)
  --rounds N         how often each is repeated; medians are told: 1 to 99 (default 3)
  --connections N    how many requests are under way at a time: 1 to 256 (default 8)
  --load-orders N    how many source orders each load takes in, and how many there are before the lag is
                     measured: 1000 to 300000 (default 100000)
  --rate N           how many changes a second enter the stream where the lag is measured: 10 to 10000
                     (default 500)
  --largest N        orders of the largest account where sizes are measured: 10000 to 10000000 (default 1000000)
  --only PART        one of:
${parts.map(({ name, about }) => `                       ${name.padEnd(12)} ${about}`).join('\n')}
  --merged           measure all once more, with every index merged into one segment
  --json FILE        write every figure to a file as well
  --record           add the ratios to the history beside the script, and draw the chart anew
  --chart            draw the chart out of the history, and measure nothing
OPENSEARCH_URL and REDIS_URL are used where they are set; else both are started and stopped.
`

/**
 * What the segments of an index are like: those of one that was just filled are many and small, and most
 * orders of one that has been written to for months are in one large segment.
 */
export type IndexState = 'filled' | 'merged'

/** What to measure, and how. */
export interface BenchOptions {
  orders: number
  seconds: number
  rounds: number
  connections: number
  loadOrders: number
  rate: number
  /** Orders of the largest account where sizes are measured. */
  largest: number
  /** By name. */
  parts: readonly string[]
  states: readonly IndexState[]
  json: string | undefined
  record: boolean
  chart: boolean
}

const { parsed, readInteger, refuse } = readersOf(USAGE)

export { refuse }

/** @throws UsageError */
export function readOptions(args: readonly string[]): BenchOptions {
  const values = parseOrExplain(args)
  return {
    orders: readInteger('--orders', values.orders, 5_000, 10_000_000),
    seconds: readInteger('--seconds', values.seconds, 1, 600),
    rounds: readInteger('--rounds', values.rounds, 1, 99),
    connections: readInteger('--connections', values.connections, 1, 256),
    loadOrders: readInteger('--load-orders', values['load-orders'], 1_000, 300_000),
    rate: readInteger('--rate', values.rate, 10, 10_000),
    largest: readInteger('--largest', values.largest, 10_000, 10_000_000),
    parts: readParts(values.only),
    states: values.merged ? ['filled', 'merged'] : ['filled'],
    json: values.json,
    record: values.record,
    chart: values.chart,
  }
}

function parseOrExplain(args: readonly string[]) {
  return parsed(() => {
    const { values } = parseArgs({
      args: [...args],
      options: {
        orders: { type: 'string', default: '200000' },
        seconds: { type: 'string', default: '8' },
        rounds: { type: 'string', default: '3' },
        connections: { type: 'string', default: '8' },
        'load-orders': { type: 'string', default: '100000' },
        rate: { type: 'string', default: '500' },
        largest: { type: 'string', default: '1000000' },
        only: { type: 'string' },
        merged: { type: 'boolean', default: false },
        json: { type: 'string' },
        record: { type: 'boolean', default: false },
        chart: { type: 'boolean', default: false },
      },
    })
    return values
  })
}

function readParts(only: string | undefined): readonly string[] {
  const known = parts.map(({ name }) => name)
  if (only === undefined) return known
  if (known.includes(only)) return [only]
  return refuse(`--only must be one of ${known.join(', ')}, not "${only}"`)
}
