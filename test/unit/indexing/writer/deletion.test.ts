import { beforeEach, describe, expect, it } from 'vitest'
import { startWriter } from '../../../support/orders/order-writer.ts'

let { index, live, history }: ReturnType<typeof startWriter> = startWriter()

beforeEach(() => {
  ;({ index, live, history } = startWriter())
})

describe('a deletion', () => {
  it('a deletion removes the order from every account', async () => {
    await live(1, { coproducer_account_ids: ['acc_2', 'acc_3'] })
    expect(await live(2, { deleted: true })).toBe('written')
    expect(index.keys()).toEqual([])
  })

  it('a deletion keeps a version record forever, with ids only', async () => {
    await live(1)
    await live(2, { deleted: true })
    expect(index.record('ord_1')).toEqual({
      orderId: 'ord_1',
      version: 2,
      ownerAccountId: 'acc_1',
      accountIds: [],
      createdKey: Date.parse('2026-03-01T12:00:00Z'),
      hasUpdatedAt: true,
      deleted: true,
      writtenKey: index.lastWriteTimestamp,
      announced: { sequence: 0, lastPaymentId: null },
    })
  })

  it.each([1, 2])('version %d does not undo a deletion, since it is not newer', async (version) => {
    await live(1)
    await live(2, { deleted: true })
    expect(await live(version)).toBe('older')
    expect(index.keys()).toEqual([])
  })

  it('a newer version undoes a deletion', async () => {
    await live(1)
    await live(2, { deleted: true })
    expect(await live(3, { coproducer_account_ids: ['acc_2'] })).toBe('written')
    expect(index.keys()).toEqual(['acc_1:ord_1', 'acc_2:ord_1'])
    expect(index.record('ord_1')?.deleted).toBe(false)
  })

  it('a deletion of an unknown order rejects older versions', async () => {
    await live(5, { deleted: true })
    expect([await live(4), await history(4)]).toEqual(['older', 'older'])
    expect(index.keys()).toEqual([])
  })

  it('an older deletion is dropped', async () => {
    await live(5)
    expect(await live(4, { deleted: true })).toBe('older')
    expect(index.keys()).toEqual(['acc_1:ord_1'])
  })
})
