import { describe, expect, it } from 'vitest'
import {
  concreteIndex,
  indexNames,
  indexVersion,
} from '../../../../../src/stores/opensearch/indices/index-names.ts'

/** All names of one epoch and version. */
const everyName = (prefix: string) => {
  const {
    isVersion: _,
    isFenced: __,
    writeAlias,
    writeAliases,
    copyAlias,
    filterAlias,
    opaqueId,
    ...fixed
  } = indexNames(prefix)
  return {
    ...fixed,
    filterable: filterAlias({ alias: 'filterable', marker: 'paid_key', columns: [] }),
    version: concreteIndex(fixed.orders, 7),
    copy: copyAlias(concreteIndex(fixed.orders, 7)),
    every: concreteIndex(fixed.orders, '*'),
    write: [fixed.orders, fixed.eventRecords, fixed.versionRecords].map((name) =>
      writeAlias(concreteIndex(name, 7), 9),
    ),
    everyWrite: writeAliases,
    mark: opaqueId(9),
  }
}

describe('the names of an index', () => {
  it('the index names are the documented ones', () => {
    expect(everyName('')).toEqual({
      orders: 'orders',
      filterable: 'orders-filterable',
      versionRecords: 'order-heads',
      eventRecords: 'order-events',
      writer: 'writer',
      keys: 'api-keys',
      accounts: 'accounts',
      webhookEndpoints: 'webhook-endpoints',
      webhookDeliveries: 'webhook-deliveries',
      audit: 'audit-log',
      usage: 'api-usage',
      sessions: 'console-sessions',
      idempotentRequests: 'idempotent-requests',
      sandboxOrders: 'sandbox-orders',
      version: 'orders-v7',
      every: 'orders-v*',
      copy: 'orders-copy-v7',
      write: ['orders-w-9-v7', 'order-events-w-9-v7', 'order-heads-w-9-v7'],
      everyWrite: ['orders-w-*', 'order-heads-w-*', 'order-events-w-*'],
      mark: 'orders-w-9',
    })
  })

  it('the index names all begin with the prefix', () => {
    const { write, everyWrite, ...names } = everyName('shop-')
    const all = [...Object.values(names), ...write, ...everyWrite]
    expect(all.filter((name) => !name.startsWith('shop-'))).toEqual([])
  })

  it('the index names differ under another prefix', () => {
    const all = ['', 'a-', 'b-', 'orders-'].flatMap((prefix) => {
      const { write, everyWrite: _, mark: __, ...names } = everyName(prefix)
      return [...Object.values(names), ...write]
    })
    expect(new Set(all).size).toBe(all.length)
  })

  it('the names for reads differ from the names for writes', () => {
    const matches = (pattern: string, name: string) =>
      new RegExp(`^${pattern.replace('*', '.*')}$`).test(name)
    const { orders, versionRecords, writeAlias, writeAliases, copyAlias } = indexNames('')
    const written = [orders, versionRecords].map((name) => writeAlias(concreteIndex(name, 1), 1))
    const read = [orders, versionRecords, concreteIndex(orders, 1)]
    expect(writeAliases.some((pattern) => read.some((name) => matches(pattern, name)))).toBe(false)
    // The template must not match a write alias, or a write would create an index.
    expect(
      [...written, copyAlias('orders-v1')].some((name) =>
        matches(concreteIndex(orders, '*'), name),
      ),
    ).toBe(false)
  })

  it.each([
    ['orders-v2', true],
    ['orders-v12', true],
    ['orders-visits', false],
    ['orders-v1-backup', false],
    ['orders-v', false],
    ['shop-orders-v1', false],
  ])('the name %s is a version of the orders index: %s', (index, is) => {
    expect(indexNames('').isVersion(index)).toBe(is)
  })

  it.each([
    ['orders', true],
    ['orders-filterable', true],
    ['order-heads', true],
    ['orders-w-9-v7', true],
    ['order-heads-w-9-v7', true],
    ['orders-copy-v7', false],
    ['orders-kept', false],
    ['shop-orders', false],
  ])('a fence removes the alias %s from indices that are no write target: %s', (alias, is) => {
    expect(indexNames('').isFenced(alias)).toBe(is)
  })

  it('the name of an index contains its version', () => {
    expect(indexVersion(concreteIndex('shop-v3-orders', 12))).toBe(12)
  })
})
