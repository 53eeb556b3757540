import { beforeEach, describe, expect, it } from 'vitest'
import {
  type CheckOptions,
  checkIndex,
} from '../../../../src/indexing/consistency-check/check-index.ts'
import { entriesFromLines } from '../../../../src/indexing/consistency-check/source-entries.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { ndjson } from '../../../support/stores/services.ts'
import { createMemoryInspection } from './memory-inspection.ts'

let index: ReturnType<typeof createMemoryInspection>
let onPause: () => void
let refused: string[]
beforeEach(() => {
  index = createMemoryInspection()
  onPause = () => {}
  refused = []
})

const check = (orders: object[], options: Partial<CheckOptions> = {}) =>
  checkIndex({
    inspection: index,
    entries: entriesFromLines(ndjson(orders)),
    isWhole: true,
    maxExamples: 100,
    pause: async () => onPause(),
    onRefused: (place, { path }) => refused.push(`${place} ${path}`),
    onProgress() {},
    ...options,
  })

const CLEAN = { missing: 0, extra: 0, different: 0, without_key_field: 0, damaged: 0 }
const first = sourceOrder({ coproducer_account_ids: ['acc_2'] })
const DELETION = { id: 'ord_1', owner_account_id: 'acc_1', deleted: true }
const second = { ...first, version: 2, status: 'REFUNDED' }

describe('while a writer is at work, a check', () => {
  it('looks again at a document that is not written yet', async () => {
    onPause = () => index.write(first)
    expect(await check([first])).toMatchObject(CLEAN)
  })

  it('looks again at a document that is newer than its head', async () => {
    index.write(second)
    onPause = () => index.write({ ...second, version: 3 })
    expect(await check([{ ...second, status: 'PAID' }])).toMatchObject(CLEAN)
  })

  it('looks again at a document that is about to be removed', async () => {
    index.write(sourceOrder({ id: 'ord_2' }))
    onPause = () => index.drop('acc_1', 'ord_2')
    expect(await check([])).toMatchObject(CLEAN)
  })

  it('looks again at a document whose order is newer by now', async () => {
    index.write(sourceOrder())
    const onProgress = () => index.write(second)
    expect(await check([sourceOrder()], { onProgress })).toMatchObject(CLEAN)
  })

  it('looks again at a document that nobody knows of yet', async () => {
    index.write(first)
    index.forgetHead('ord_1')
    onPause = () => index.write(first)
    expect(await check([], { isWhole: false })).toMatchObject(CLEAN)
  })

  it('looks again at a document of an account that leaves its order', async () => {
    index.write(first)
    index.drop('acc_2', 'ord_1')
    onPause = () => index.write({ ...first, version: 2, coproducer_account_ids: [] })
    expect(await check([], { isWhole: false })).toMatchObject(CLEAN)
  })

  it('looks again at a document of an order that is being erased', async () => {
    index.write(sourceOrder())
    index.drop('acc_1', 'ord_1')
    onPause = () => index.write({ ...DELETION, version: 2 })
    expect(await check([], { isWhole: false })).toMatchObject(CLEAN)
  })
})

describe('a check', () => {
  it('counts what is wrong with the newest version alone', async () => {
    const report = await check([first, second, { ...first, version: 3 }])
    expect(report).toMatchObject({ ...CLEAN, read: 3, orders: 1, missing: 2 })
    expect(report.examples.every(({ what }) => what.includes('version 3'))).toBe(true)
  })

  it('takes the first of two entries of one version, as a writer does', async () => {
    index.write(first)
    expect(await check([first, { ...first, status: 'REFUNDED' }])).toMatchObject(CLEAN)
  })

  it('takes the newest version in whatever sequence they come', async () => {
    index.write(second)
    expect(await check([second, first])).toMatchObject(CLEAN)
  })

  it('tells what no index takes, and where', async () => {
    index.write(first)
    const other = { ...first, version: 2, owner_account_id: 'acc_9' }
    const report = await check([{ id: 'ord_1' }, first, other])
    expect(report).toMatchObject({ ...CLEAN, read: 3, refused_lines: 2 })
    expect(refused).toEqual(['line 1 /version', 'line 3 /owner_account_id'])
  })

  it('does not know what should be of an order that the index refuses', async () => {
    index.write(first)
    const other = { ...first, version: 2, owner_account_id: 'acc_9' }
    expect(await check([other])).toMatchObject({ ...CLEAN, refused_lines: 1 })
  })

  it('without all of the source, finds documents that no head names', async () => {
    index.write(first)
    index.forgetHead('ord_1')
    expect(await check([], { isWhole: false })).toMatchObject({ ...CLEAN, extra: 2 })
  })

  it('without all of the source, finds what is missing of the part that there is', async () => {
    index.write(first)
    index.write({ ...first, id: 'ord_2' })
    index.drop('acc_2', 'ord_1')
    expect(await check([first], { isWhole: false })).toMatchObject({ ...CLEAN, missing: 1 })
  })

  it('without all of the source, tells what is missing by the version that the index has', async () => {
    index.write(second)
    index.drop('acc_2', 'ord_1')
    const { examples } = await check([], { isWhole: false })
    expect(examples).toEqual([
      {
        kind: 'missing',
        accountId: 'acc_2',
        orderId: 'ord_1',
        what: 'version 2 has no document; the index itself names the account',
        fields: [],
      },
    ])
  })

  it('without all of the source, tells each of many documents that are missing once', async () => {
    const orders = Array.from({ length: 4_100 }, (_, n) => sourceOrder({ id: `ord_${n}` }))
    for (const order of orders) index.write(order)
    for (const { id } of orders) index.drop('acc_1', id)
    const report = await check([], { isWhole: false })
    expect(report).toMatchObject({ ...CLEAN, missing: 4_100, known_orders: 4_100 })
  })

  it('with all of the source, goes by that alone', async () => {
    index.write(first)
    index.drop('acc_2', 'ord_1')
    const report = await check([])
    expect(report).toMatchObject({ ...CLEAN, extra: 1 })
    expect(report).not.toHaveProperty('known_orders')
  })

  it('tells how far it is in each of its walks', async () => {
    index.write(first)
    const progressEvents: unknown[] = []
    await check([], { isWhole: false, onProgress: (progress) => progressEvents.push(progress) })
    expect(progressEvents).toEqual([
      expect.objectContaining({ knownOrders: 0, documents: 0 }),
      { read: 0, refused: 0, knownOrders: 1, documents: 0 },
      { read: 0, refused: 0, knownOrders: 1, documents: 1 },
      { read: 0, refused: 0, knownOrders: 1, documents: 2 },
    ])
  })

  it('counts all faults and tells the first', async () => {
    const orders = Array.from({ length: 30 }, (_, n) => sourceOrder({ id: `ord_${n}` }))
    const report = await check(orders, { maxExamples: 7 })
    expect(report).toMatchObject({ missing: 30 })
    expect(report.examples.map(({ orderId }) => orderId)).toEqual(
      orders.slice(0, 7).map(({ id }) => id),
    )
  })

  it('compares more orders than a batch holds', async () => {
    const orders = Array.from({ length: 1_700 }, (_, n) => sourceOrder({ id: `ord_${n}` }))
    for (const order of orders) index.write(order)
    for (const id of ['ord_3', 'ord_600', 'ord_1699']) index.drop('acc_1', id)
    expect(await check(orders)).toMatchObject({ ...CLEAN, orders: 1_700, missing: 3 })
  })

  it('does not look again at everything where everything is missing', async () => {
    const orders = Array.from({ length: 4_100 }, (_, n) => sourceOrder({ id: `ord_${n}` }))
    let pauses = 0
    onPause = () => {
      pauses++
    }
    expect(await check(orders)).toMatchObject({ ...CLEAN, missing: 4_100 })
    expect(pauses).toBe(3 + 1 + 1)
  })

  it('looks up only what it can compare', async () => {
    index.write({ ...second, version: 9 })
    await check([first, second])
    expect(index.lookups.documents).toBe(0)
  })

  it('ends when it is told to', async () => {
    const onProgress = () => {
      throw new Error('enough')
    }
    await expect(check([first], { onProgress })).rejects.toThrow('enough')
  })
})
