import { expect, it } from 'vitest'
import { benchUsage } from '../../../../scripts/bench/options.ts'
import { webhookMeasurements } from '../../../../scripts/bench/parts/webhooks.ts'
import { parts } from '../../../../scripts/bench/parts.ts'
import { UsageError } from '../../../../scripts/usage.ts'

const { readOptions } = benchUsage(parts)
const names = parts.map(({ name }) => name)
const measurements = webhookMeasurements.map(({ name }) => name)

it('The options have defaults for a complete run', () => {
  expect(readOptions([])).toEqual({
    ...{ orders: 200_000, seconds: 8, shards: 1, rounds: 3, connections: 8 },
    ...{ loadOrders: 100_000, rate: 500, largest: 1_000_000 },
    ...{ dead: 1_000, idle: 10_000, pending: 1_000_000, waiting: 100_000 },
    ...{ measurements, against: undefined, cpuProf: undefined },
    ...{ parts: names, states: ['filled'], json: undefined, record: false, chart: false },
  })
})

it('Every option is read', () => {
  const args =
    '--orders 5000 --seconds 1 --shards 4 --rounds 9 --connections 16 --load-orders 1000 --rate 2000 --largest 10000 --dead 10 --idle 100 --pending 1000 --waiting 2000 --measurement idle --against ../before --cpu-prof profiles --only lag --merged --json=figures.json --chart'
  expect(readOptions(args.split(' '))).toEqual({
    ...{ orders: 5_000, seconds: 1, shards: 4, rounds: 9, connections: 16 },
    ...{ loadOrders: 1_000, rate: 2_000, largest: 10_000 },
    ...{ dead: 10, idle: 100, pending: 1_000, waiting: 2_000 },
    ...{ measurements: ['idle'], against: '../before', cpuProf: 'profiles' },
    ...{ parts: ['lag'], states: ['filled', 'merged'], json: 'figures.json' },
    ...{ record: false, chart: true },
  })
  expect(readOptions(['--record'])).toMatchObject({ record: true })
})

it.each([
  [['--orders', '4999'], '--orders must be an integer from 5000 to 10000000, not "4999"'],
  [['--orders', '1e6'], '--orders must be an integer'],
  [['--rounds', '2.5'], '--rounds must be'],
  [['--connections', ''], '--connections must be'],
  [['--load-orders', '999'], '--load-orders must be'],
  [['--only', 'index'], `--only must be one of ${names.join(', ')}, not "index"`],
  [['--measurement', 'speed'], `--measurement must be one of ${measurements.join(', ')}`],
  [['--fast'], "Unknown option '--fast'"],
  [['--json'], '--json'],
  [['--record', '--cpu-prof', 'profiles'], 'record a run without --cpu-prof'],
  [['200000'], 'Unexpected argument'],
])('The arguments %j are rejected with the usage', (args, problem) => {
  expect(() => readOptions(args)).toThrow(UsageError)
  expect(() => readOptions(args)).toThrow(problem)
  expect(() => readOptions(args)).toThrow('usage: npm run -s bench')
})
