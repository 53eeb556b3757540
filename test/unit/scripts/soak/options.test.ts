import { expect, it } from 'vitest'
import { readOptions } from '../../../../scripts/soak/options.ts'

it('the soak runs for half an hour by default, without its warm-up', () => {
  expect(readOptions([])).toEqual({ minutes: 30, warmUpMinutes: 5, rate: 40 })
  expect(readOptions(['--minutes', '2'])).toEqual({ minutes: 2, warmUpMinutes: 0, rate: 40 })
})

it.each([
  [['--minutes', '1']],
  [['--minutes', 'ten']],
  [['--minutes', '10', '--warm-up', '9']],
  [['--rate', '0']],
  [['--hours', '1']],
])('the soak rejects %j with its usage', (args) => {
  expect(() => readOptions(args)).toThrow('usage: npm run -s soak')
})
