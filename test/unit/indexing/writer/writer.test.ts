import { beforeEach, describe, expect, it } from 'vitest'
import { mapTransactions } from '../../../../src/indexing/writer/order-index.ts'
import { createWriter } from '../../../../src/indexing/writer/writer.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { INVISIBLE, NOW, pathOf, startWriter } from '../../../support/orders/order-writer.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'

let { index, live, order }: ReturnType<typeof startWriter> = startWriter()

beforeEach(() => {
  ;({ index, live, order } = startWriter())
})

describe('a version', () => {
  it('the first version is written', async () => {
    expect(await live(1)).toBe('written')
    expect(order()).toMatchObject({ id: 'ord_1', role: 'OWNER', status: 'PAID' })
  })

  it('a newer version is written', async () => {
    await live(1)
    expect(await live(2, { status: 'REFUNDED' })).toBe('written')
    expect(order()?.status).toBe('REFUNDED')
  })

  it.each([
    ['equal', 5],
    ['older', 4],
  ])('a version that is %s is dropped', async (_name, version) => {
    await live(5)
    expect(await live(version, { status: 'REFUNDED' })).toBe('older')
    expect([order()?.status, index.record('ord_1')?.version]).toEqual(['PAID', 5])
  })

  it('the writer accepts a gap between versions', async () => {
    await live(1)
    expect(await live(900, { status: 'REFUNDED' })).toBe('written')
  })

  it('a version without new content is recorded and not written', async () => {
    await live(1)
    const before = index.document('acc_1', 'ord_1')
    expect(await live(2)).toBe('unchanged')
    expect(index.document('acc_1', 'ord_1')).toEqual(before)
    expect(await live(2, { status: 'REFUNDED' })).toBe('older')
  })

  it('a version with only another changed_at has no new content', async () => {
    await live(1)
    expect(await live(2, { changed_at: '2026-03-09T00:00:00Z' })).toBe('unchanged')
  })

  it('a version with another sequence of tracking keys has no new content', async () => {
    await live(1, { tracking: { src: 'bio', a: '1' } })
    expect(await live(2, { tracking: { a: '1', src: 'bio' } })).toBe('unchanged')
  })
})

describe('the owner', () => {
  it('the owner of an order never changes', async () => {
    await live(1)
    const result = await live(2, { owner_account_id: 'acc_9' })
    expect(pathOf(result)).toBe('/owner_account_id')
    expect(index.keys()).toEqual(['acc_1:ord_1'])
  })

  it('a deletion never changes the owner', async () => {
    await live(1)
    const result = await live(2, { deleted: true, owner_account_id: 'acc_9' })
    expect(pathOf(result)).toBe('/owner_account_id')
    expect(index.keys()).toEqual(['acc_1:ord_1'])
  })

  it('a version after a deletion never changes the owner', async () => {
    await live(1)
    await live(2, { deleted: true })
    expect(pathOf(await live(3, { owner_account_id: 'acc_9' }))).toBe('/owner_account_id')
  })
})

describe('created_at', () => {
  const created_at = '2026-03-01T12:00:00.001Z'

  it('created_at never changes', async () => {
    await live(1)
    expect(pathOf(await live(2, { created_at }))).toBe('/created_at')
    expect(order()?.created_at).toBe('2026-03-01T12:00:00.000Z')
  })

  it('created_at never changes after a deletion', async () => {
    await live(1)
    await live(2, { deleted: true })
    expect(pathOf(await live(3, { created_at }))).toBe('/created_at')
  })

  it('created_at never changes while the order was invisible', async () => {
    await live(1, INVISIBLE)
    expect(pathOf(await live(2, { created_at }))).toBe('/created_at')
  })

  it('created_at may use another zone', async () => {
    await live(1)
    const given = { created_at: '2026-03-01T09:00:00-03:00' }
    expect(await live(2, { ...given, status: 'REFUNDED' })).toBe('written')
  })

  it('created_at is recorded with the first version after a deletion of an unknown order', async () => {
    await live(1, { deleted: true })
    expect(await live(2)).toBe('written')
    expect(pathOf(await live(3, { created_at }))).toBe('/created_at')
  })

  it('created_at of a rejected version is not recorded', async () => {
    await live(1)
    await live(2, { created_at })
    expect(await live(2, { status: 'REFUNDED' })).toBe('written')
  })
})

it('a load of history compares changed_at with the clock after its reads', async () => {
  let now = NOW
  const slow = mapTransactions(index, (transaction) => ({
    ...transaction,
    versionRecords(orderIds) {
      now += 60_000
      return transaction.versionRecords(orderIds)
    },
  }))
  const change = changeOf(sourceOrder({ changed_at: new Date(NOW + 30_000).toISOString() }))
  expect(await createWriter(slow, () => now).write([change], 'history')).toEqual(['written'])
})
