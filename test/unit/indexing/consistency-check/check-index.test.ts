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
let rejected: string[]
beforeEach(() => {
  index = createMemoryInspection()
  onPause = () => {}
  rejected = []
})

const check = (orders: object[], options: Partial<CheckOptions> = {}) =>
  checkIndex({
    inspection: index,
    entries: entriesFromLines(ndjson(orders)),
    isWhole: true,
    maxExamples: 100,
    pause: async () => onPause(),
    onRejected: (place, { path }) => rejected.push(`${place} ${path}`),
    onProgress() {},
    ...options,
  })

const CLEAN = { missing: 0, extra: 0, different: 0, without_key_field: 0, damaged: 0 }
const first = sourceOrder({ coproducer_account_ids: ['acc_2'] })
const DELETION = { id: 'ord_1', owner_account_id: 'acc_1', deleted: true }
const second = { ...first, version: 2, status: 'REFUNDED' }

describe('the consistency check beside an active writer', () => {
  it('the check rechecks a missing document and finds it written', async () => {
    onPause = () => index.write(first)
    expect(await check([first])).toMatchObject(CLEAN)
  })

  it('the check rechecks a document that is newer than its version record', async () => {
    index.write(second)
    onPause = () => index.write({ ...second, version: 3 })
    expect(await check([{ ...second, status: 'PAID' }])).toMatchObject(CLEAN)
  })

  it('the check rechecks a document that the writer is removing', async () => {
    index.write(sourceOrder({ id: 'ord_2' }))
    onPause = () => index.drop('acc_1', 'ord_2')
    expect(await check([])).toMatchObject(CLEAN)
  })

  it('the check rechecks a document whose order has a newer version meanwhile', async () => {
    index.write(sourceOrder())
    const onProgress = () => index.write(second)
    expect(await check([sourceOrder()], { onProgress })).toMatchObject(CLEAN)
  })

  it('the check rechecks a document that has no version record yet', async () => {
    index.write(first)
    index.forgetHead('ord_1')
    onPause = () => index.write(first)
    expect(await check([], { isWhole: false })).toMatchObject(CLEAN)
  })

  it('the check rechecks a document of an account that is leaving its order', async () => {
    index.write(first)
    index.drop('acc_2', 'ord_1')
    onPause = () => index.write({ ...first, version: 2, coproducer_account_ids: [] })
    expect(await check([], { isWhole: false })).toMatchObject(CLEAN)
  })

  it('the check rechecks a document of an order that is being erased', async () => {
    index.write(sourceOrder())
    index.drop('acc_1', 'ord_1')
    onPause = () => index.write({ ...DELETION, version: 2 })
    expect(await check([], { isWhole: false })).toMatchObject(CLEAN)
  })
})

describe('the consistency check', () => {
  it('the check counts inconsistencies of the newest version only', async () => {
    const report = await check([first, second, { ...first, version: 3 }])
    expect(report).toMatchObject({ ...CLEAN, read: 3, orders: 1, missing: 2 })
    expect(report.examples.every(({ what }) => what.includes('version 3'))).toBe(true)
  })

  it('the check compares the first of two entries of one version, like a writer', async () => {
    index.write(first)
    expect(await check([first, { ...first, status: 'REFUNDED' }])).toMatchObject(CLEAN)
  })

  it('the check compares the newest version in any sequence of entries', async () => {
    index.write(second)
    expect(await check([second, first])).toMatchObject(CLEAN)
  })

  it('the check reports invalid entries with their place', async () => {
    index.write(first)
    const other = { ...first, version: 2, owner_account_id: 'acc_9' }
    const report = await check([{ id: 'ord_1' }, first, other])
    expect(report).toMatchObject({ ...CLEAN, read: 3, refused_lines: 2 })
    expect(rejected).toEqual(['line 1 /version', 'line 3 /owner_account_id'])
  })

  it('the check expects no documents of an order that the index rejects', async () => {
    index.write(first)
    const other = { ...first, version: 2, owner_account_id: 'acc_9' }
    expect(await check([other])).toMatchObject({ ...CLEAN, refused_lines: 1 })
  })

  it('the check of a partial source finds documents that no version record names', async () => {
    index.write(first)
    index.forgetHead('ord_1')
    expect(await check([], { isWhole: false })).toMatchObject({ ...CLEAN, extra: 2 })
  })

  it('the check of a partial source finds missing documents of its orders', async () => {
    index.write(first)
    index.write({ ...first, id: 'ord_2' })
    index.drop('acc_2', 'ord_1')
    expect(await check([first], { isWhole: false })).toMatchObject({ ...CLEAN, missing: 1 })
  })

  it('the check of a partial source reports missing documents with the version of the index', async () => {
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

  it('the check of a partial source reports each of many missing documents once', async () => {
    const orders = Array.from({ length: 4_100 }, (_, n) => sourceOrder({ id: `ord_${n}` }))
    for (const order of orders) index.write(order)
    for (const { id } of orders) index.drop('acc_1', id)
    const report = await check([], { isWhole: false })
    expect(report).toMatchObject({ ...CLEAN, missing: 4_100, known_orders: 4_100 })
  })

  it('the check of a complete source ignores the version records', async () => {
    index.write(first)
    index.drop('acc_2', 'ord_1')
    const report = await check([])
    expect(report).toMatchObject({ ...CLEAN, extra: 1 })
    expect(report).not.toHaveProperty('known_orders')
  })

  it('the check of a complete source finds missing documents of a newer version once', async () => {
    index.write({ ...first, version: 3 })
    index.drop('acc_2', 'ord_1')
    const { examples, ...counts } = await check([first, second])
    expect(counts).toMatchObject({ ...CLEAN, missing: 1 })
    expect(examples).toEqual([
      {
        kind: 'missing',
        accountId: 'acc_2',
        orderId: 'ord_1',
        what: 'version 3 has no document, and the source has version 2: a repair needs the newest version',
        fields: [],
      },
    ])
    expect(await check([first], { isWhole: false })).toMatchObject({ ...CLEAN, missing: 1 })
  })

  it('the check of a complete source expects no document of a newer deletion', async () => {
    index.write(first)
    index.write({ ...DELETION, version: 2 })
    expect(await check([first])).toMatchObject(CLEAN)
  })

  it.each([
    ['a complete', true],
    ['a partial', false],
  ])(
    'the check of %s source lists each damaged version record once, and continues',
    async (_source, isWhole) => {
      for (const id of ['ord_1', 'ord_2', 'ord_3']) index.write({ ...first, id })
      for (const id of ['ord_1', 'ord_2']) index.damageRecord(id)
      index.drop('acc_2', 'ord_3')
      const sources = ['ord_1', 'ord_2', 'ord_3'].map((id) => ({ ...first, id }))
      const { examples, ...counts } = await check(sources, { isWhole })
      expect(counts).toMatchObject({ ...CLEAN, damaged: 2, missing: 1 })
      const damaged = { kind: 'damaged', accountId: '', what: 'it is damaged', fields: [] }
      expect(examples.slice(0, 2)).toEqual([
        { ...damaged, orderId: 'ord_1' },
        { ...damaged, orderId: 'ord_2' },
      ])
    },
  )

  it('the check of a partial source finds damaged version records of other orders', async () => {
    index.write(first)
    index.damageRecord('ord_1')
    expect(await check([], { isWhole: false })).toMatchObject({ ...CLEAN, damaged: 1 })
  })

  it('the check reports its progress in each scan', async () => {
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

  it('the check counts all inconsistencies and reports the first ones', async () => {
    const orders = Array.from({ length: 30 }, (_, n) => sourceOrder({ id: `ord_${n}` }))
    const report = await check(orders, { maxExamples: 7 })
    expect(report).toMatchObject({ missing: 30 })
    expect(report.examples.map(({ orderId }) => orderId)).toEqual(
      orders.slice(0, 7).map(({ id }) => id),
    )
  })

  it('the check compares more orders than fit into a batch', async () => {
    const orders = Array.from({ length: 1_700 }, (_, n) => sourceOrder({ id: `ord_${n}` }))
    for (const order of orders) index.write(order)
    for (const id of ['ord_3', 'ord_600', 'ord_1699']) index.drop('acc_1', id)
    expect(await check(orders)).toMatchObject({ ...CLEAN, orders: 1_700, missing: 3 })
  })

  it('the check does not recheck every order when all are missing', async () => {
    const orders = Array.from({ length: 4_100 }, (_, n) => sourceOrder({ id: `ord_${n}` }))
    let pauses = 0
    onPause = () => {
      pauses++
    }
    expect(await check(orders)).toMatchObject({ ...CLEAN, missing: 4_100 })
    expect(pauses).toBe(3 + 1 + 1)
  })

  it('the check reads only documents that it can compare', async () => {
    index.write({ ...second, version: 9 })
    await check([first, second])
    expect(index.lookups.documents).toBe(0)
  })

  it('the check ends when its progress callback throws', async () => {
    const onProgress = () => {
      throw new Error('enough')
    }
    await expect(check([first], { onProgress })).rejects.toThrow('enough')
  })
})
