import { describe, expect, it } from 'vitest'
import { indexBehind, indexNames } from '../../../../src/stores/opensearch/names.ts'

/** Every name there is, of one epoch and version. */
const everyName = (prefix: string) => {
  const { writeAliases, bulkMark, ...fixed } = indexNames(prefix)
  return {
    ...fixed,
    version: indexBehind(fixed.orders, 7),
    every: indexBehind(fixed.orders, '*'),
    write: writeAliases(9),
    everyWrite: writeAliases('*'),
    mark: bulkMark(9),
  }
}

describe('the names of an index', () => {
  it('are these', () => {
    expect(everyName('')).toEqual({
      orders: 'orders',
      heads: 'order-heads',
      writer: 'writer',
      keys: 'api-keys',
      accounts: 'accounts',
      version: 'orders-v7',
      every: 'orders-v*',
      write: { orders: 'orders-w-9', heads: 'order-heads-w-9' },
      everyWrite: { orders: 'orders-w-*', heads: 'order-heads-w-*' },
      mark: 'orders-w-9',
    })
  })

  it('all begin with the prefix', () => {
    const { write, everyWrite, ...names } = everyName('shop-')
    const all = [names, write, everyWrite].flatMap((some) => Object.values(some))
    expect(all.filter((name) => !name.startsWith('shop-'))).toEqual([])
  })

  it('are other names under another prefix', () => {
    const all = ['', 'a-', 'b-', 'orders-'].flatMap((prefix) => {
      const { write, everyWrite: _, mark: __, ...names } = everyName(prefix)
      return [...Object.values(names), ...Object.values(write)]
    })
    expect(new Set(all).size).toBe(all.length)
  })

  it('keep what is read apart from what a writer writes to', () => {
    const matches = (pattern: string, name: string) =>
      new RegExp(`^${pattern.replace('*', '.*')}$`).test(name)
    const { orders, heads, writeAliases } = indexNames('')
    const written = Object.values(writeAliases(1))
    const read = [orders, heads, indexBehind(orders, 1)]
    const every = Object.values(writeAliases('*'))
    expect(every.some((pattern) => read.some((name) => matches(pattern, name)))).toBe(false)
    // The template of the orders' versions must not make an index of a write alias.
    expect(written.some((name) => matches(indexBehind(orders, '*'), name))).toBe(false)
  })
})
