import { describe, expect, it } from 'vitest'
import {
  commandLine,
  count,
  duration,
  size,
} from '../../../../src/orders-cli/terminal/format-text.ts'

it.each([
  [0, '0 pedidos'],
  [1, '1 pedido'],
  [12_300, '12.300 pedidos'],
])('%i orders are rendered as %s', (number, text) => {
  expect(count(number, 'pedido')).toBe(text)
})

it.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [999, '999 bytes'],
  [1_000, '1 kB'],
  [3_449_000, '3,4 MB'],
  [5e15, '5.000 TB'],
])('%i bytes are rendered as %s', (bytes, text) => {
  expect(size(bytes)).toBe(text)
})

it.each([
  [840, '0,8 s'],
  [14_400, '14 s'],
  [200_000, '3 min 20 s'],
  [7_500_000, '2 h 5 min'],
])('%i ms are rendered as %s', (ms, text) => {
  expect(duration(ms)).toBe(text)
})

describe('a command quoted for the shell', () => {
  it.each([
    ['orders export --out a.csv', ['orders', 'export', '--out', 'a.csv'], 'linux'],
    ["--out 'meus pedidos.csv'", ['--out', 'meus pedidos.csv'], 'linux'],
    [`'d'\\''ana $HOME'`, ["d'ana $HOME"], 'darwin'],
    ['--out "meus pedidos.csv"', ['--out', 'meus pedidos.csv'], 'win32'],
  ] as const)('a command quoted for the shell is %s', (text, words, platform) => {
    expect(commandLine(words, platform)).toBe(text)
  })
})
