import { expect, it } from 'vitest'
import { readOptions } from '../../../scripts/soak/options.ts'

it('lasts half an hour unless it is told otherwise, and leaves out the beginning', () => {
  expect(readOptions([])).toEqual({ minutes: 30, warmUpMinutes: 5, rate: 40 })
  expect(readOptions(['--minutes', '2'])).toEqual({ minutes: 2, warmUpMinutes: 0, rate: 40 })
})

it.each([
  [['--minutes', '1']],
  [['--minutes', 'ten']],
  [['--minutes', '10', '--warm-up', '9']],
  [['--rate', '0']],
  [['--hours', '1']],
])('refuses %j and tells what there is', (args) => {
  expect(() => readOptions(args)).toThrow('usage: npm run -s soak')
})
