import { expect, it } from 'vitest'
import { jsonText, printTable } from '../../../src/cli/output.ts'

const ROWS = [
  { key_id: 'key_1', name: 'ERP', scopes: ['orders:read'] },
  { key_id: 'key_200', name: null, scopes: [] },
]
const TABLE = `key_id   name  scopes
key_1    ERP   orders:read
key_200  -     -
`

function print(screen: { isTTY: boolean; columns: number }, rows: object[] = ROWS): string {
  let printed = ''
  const write = (text: string) => {
    printed += text
  }
  printTable(rows as Record<string, unknown>[], {
    stdout: { ...screen, write },
    stderr: { ...screen, write },
  })
  return printed
}

it.each([
  ['a terminal that has room for it', { isTTY: true, columns: 26 }],
  ['a terminal that does not report its width', { isTTY: true, columns: 0 }],
  ['a pipe, whatever its width', { isTTY: false, columns: 10 }],
])('rows are a table on %s', (_screen, screen) => {
  expect(print(screen)).toBe(TABLE)
})

it('each value has a line of its own on a terminal that is too narrow for a table', () => {
  expect(print({ isTTY: true, columns: 25 })).toBe(`key_id: key_1
name:   ERP
scopes: orders:read

key_id: key_200
name:   -
scopes: -
`)
})

it.each([
  ['right-to-left override', '\u202e'],
  ['isolate', '\u2066'],
  ['escape', '\u001b'],
])('a value cannot reorder or rewrite its line with the control character %s', (_name, control) => {
  const rows = [{ actor: `console:${control}enod`, outcome: 'failed' }]
  expect(print({ isTTY: true, columns: 80 }, rows)).toBe(`actor          outcome
console:\ufffdenod  failed
`)
})

it('JSON has no control character of direction, and the same value', () => {
  const rows = [{ actor: 'console:\u202enod', target: 'a\nb' }]
  expect(jsonText(rows)).toContain('\\u202enod')
  expect(JSON.parse(jsonText(rows))).toEqual(rows)
})
