import { expect, it } from 'vitest'
import { parseInterval } from '../../../../src/orders-cli/sync/command.ts'

it.each([
  ['1s', 1_000],
  ['90s', 90_000],
  ['5m', 300_000],
  ['2h', 7_200_000],
  ['7d', 604_800_000],
  ['0s', null],
  ['8d', null],
  ['60', null],
  ['1.5h', null],
  ['-5s', null],
  ['', null],
])('--interval %s is parsed as %s milliseconds', (text, ms) => {
  expect(parseInterval(text)).toBe(ms)
})
