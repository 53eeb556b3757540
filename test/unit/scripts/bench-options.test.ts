import { describe, expect, it } from 'vitest'
import { readOptions } from '../../../scripts/bench/options.ts'
import { parts } from '../../../scripts/bench/parts.ts'
import { UsageError } from '../../../scripts/usage.ts'

const names = parts.map(({ name }) => name)

describe('the options of the bench', () => {
  it('have defaults for a whole run', () => {
    expect(readOptions([])).toEqual({
      orders: 200_000,
      seconds: 8,
      rounds: 3,
      connections: 8,
      loadOrders: 100_000,
      rate: 500,
      largest: 1_000_000,
      parts: names,
      states: ['filled'],
      json: undefined,
      record: false,
      chart: false,
    })
  })

  it('are all taken', () => {
    const args =
      '--orders 5000 --seconds 1 --rounds 9 --connections 16 --load-orders 1000 --rate 2000 --largest 10000 --only lag'
    expect(
      readOptions([...args.split(' '), '--merged', '--json=figures.json', '--record', '--chart']),
    ).toEqual({
      orders: 5_000,
      seconds: 1,
      rounds: 9,
      connections: 16,
      loadOrders: 1_000,
      rate: 2_000,
      largest: 10_000,
      parts: ['lag'],
      states: ['filled', 'merged'],
      json: 'figures.json',
      record: true,
      chart: true,
    })
  })

  it.each([
    [['--orders', '4999'], '--orders must be an integer from 5000 to 10000000, not "4999"'],
    [['--orders', '1e6'], '--orders must be an integer'],
    [['--seconds', '0'], '--seconds must be an integer from 1 to 600, not "0"'],
    [['--rounds', '2.5'], '--rounds must be'],
    [['--connections', ''], '--connections must be'],
    [['--load-orders', '999'], '--load-orders must be'],
    [['--rate', '9'], '--rate must be an integer from 10 to 10000, not "9"'],
    [['--largest', '9999'], '--largest must be an integer from 10000 to 10000000, not "9999"'],
    [['--only', 'index'], `--only must be one of ${names.join(', ')}, not "index"`],
    [['--fast'], "Unknown option '--fast'"],
    [['--json'], '--json'],
    [['200000'], 'Unexpected argument'],
  ])('are refused where they are %j, with the usage', (args, problem) => {
    expect(() => readOptions(args)).toThrow(UsageError)
    expect(() => readOptions(args)).toThrow(problem)
    expect(() => readOptions(args)).toThrow('usage: npm run -s bench')
  })
})
