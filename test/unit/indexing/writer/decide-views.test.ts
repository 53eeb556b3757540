import { beforeEach, describe, expect, it } from 'vitest'
import { formatInstant } from '../../../../src/lib/instant.ts'
import { INVISIBLE, startWriter } from '../../../support/orders/order-writer.ts'
import { sourcePayment } from '../../../support/orders/source-order.ts'

let { index, live, history, updatedAt }: ReturnType<typeof startWriter> = startWriter()

beforeEach(() => {
  ;({ index, live, history, updatedAt } = startWriter())
})

const CHANGED_AT = '2026-03-01T12:05:00.000Z'
const writeTimestampText = () => formatInstant(index.lastWriteTimestamp)

describe('a co-producer', () => {
  const WITH_ACC_2 = { coproducer_account_ids: ['acc_2'] }

  it('a new co-producer gets a document with the write timestamp, and the owner keeps the date', async () => {
    await history(1)
    expect(await live(2, WITH_ACC_2)).toBe('written')
    expect([updatedAt('acc_1'), updatedAt('acc_2')]).toEqual([CHANGED_AT, writeTimestampText()])
  })

  it('a new co-producer before the initial fill gets a document without a date', async () => {
    await live(1, { changed_at: null })
    await live(2, { ...WITH_ACC_2, changed_at: null })
    expect(updatedAt('acc_2')).toBeNull()
  })

  it('a removed co-producer loses the document, and the others keep theirs', async () => {
    await history(1, { coproducer_account_ids: ['acc_2', 'acc_3'] })
    expect(await live(2, { coproducer_account_ids: ['acc_3'] })).toBe('written')
    expect(index.keys()).toEqual(['acc_1:ord_1', 'acc_3:ord_1'])
    expect([updatedAt('acc_1'), updatedAt('acc_3')]).toEqual([CHANGED_AT, CHANGED_AT])
  })

  it('a returning co-producer gets a document with the write timestamp', async () => {
    await history(1, WITH_ACC_2)
    await live(2)
    await live(3, WITH_ACC_2)
    expect(updatedAt('acc_2')).toBe(writeTimestampText())
  })

  it('a co-producer keeps the date when only the content of the owner changes', async () => {
    await history(1, WITH_ACC_2)
    await live(2, { ...WITH_ACC_2, tracking: { src: 'bio' } })
    expect([updatedAt('acc_1'), updatedAt('acc_2')]).toEqual([writeTimestampText(), CHANGED_AT])
  })

  it('a co-producer named twice, or equal to the owner, changes nothing', async () => {
    await live(1, WITH_ACC_2)
    const again = { coproducer_account_ids: ['acc_2', 'acc_1', 'acc_2'] }
    expect(await live(2, again)).toBe('unchanged')
  })
})

describe('an order all of whose payments failed', () => {
  const VISIBLE_AGAIN = {
    payments: [sourcePayment({ status: 'FAILED' }), sourcePayment({ id: 'pay_2' })],
  }

  it('an invisible order has a version record and no document', async () => {
    await live(1, INVISIBLE)
    expect(index.keys()).toEqual([])
    expect(index.record('ord_1')).toMatchObject({ version: 1, accountIds: [], deleted: false })
  })

  it('an invisible order gets a document with the write timestamp once it is visible', async () => {
    await live(1, INVISIBLE)
    expect(await live(2, VISIBLE_AGAIN)).toBe('written')
    expect(updatedAt()).toBe(writeTimestampText())
  })

  it('an order loses its documents when it becomes invisible', async () => {
    await live(1, { coproducer_account_ids: ['acc_2'] })
    expect(await live(2, INVISIBLE)).toBe('written')
    expect(index.keys()).toEqual([])
  })

  it('an invisible order drops versions older than the one that hid it', async () => {
    await live(5, INVISIBLE)
    expect(await live(4)).toBe('older')
  })
})
