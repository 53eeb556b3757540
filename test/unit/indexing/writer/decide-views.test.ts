import { beforeEach, describe, expect, it } from 'vitest'
import { formatInstant } from '../../../../src/lib/instant.ts'
import { sourcePayment } from '../../../support/orders/source-order.ts'
import { INVISIBLE, startWriter } from './order-writer.ts'

let { index, live, backFill, updatedAt }: ReturnType<typeof startWriter> = startWriter()

beforeEach(() => {
  ;({ index, live, backFill, updatedAt } = startWriter())
})

const CHANGED_AT = '2026-03-01T12:05:00.000Z'
const writeTimestampText = () => formatInstant(index.lastWriteTimestamp)

describe('a co-producer', () => {
  const WITH_ACC_2 = { coproducer_account_ids: ['acc_2'] }

  it('who joins gets a stamped document, and the owner keeps the date', async () => {
    await backFill(1)
    expect(await live(2, WITH_ACC_2)).toBe('written')
    expect([updatedAt('acc_1'), updatedAt('acc_2')]).toEqual([CHANGED_AT, writeTimestampText()])
  })

  it('who joins before the first fill gets a document without a date', async () => {
    await live(1, { changed_at: null })
    await live(2, { ...WITH_ACC_2, changed_at: null })
    expect(updatedAt('acc_2')).toBeNull()
  })

  it('who leaves loses the document, and the others keep theirs', async () => {
    await backFill(1, { coproducer_account_ids: ['acc_2', 'acc_3'] })
    expect(await live(2, { coproducer_account_ids: ['acc_3'] })).toBe('written')
    expect(index.keys()).toEqual(['acc_1:ord_1', 'acc_3:ord_1'])
    expect([updatedAt('acc_1'), updatedAt('acc_3')]).toEqual([CHANGED_AT, CHANGED_AT])
  })

  it('who comes back gets a stamped document', async () => {
    await backFill(1, WITH_ACC_2)
    await live(2)
    await live(3, WITH_ACC_2)
    expect(updatedAt('acc_2')).toBe(writeTimestampText())
  })

  it('keeps the date when only what the owner alone sees changes', async () => {
    await backFill(1, WITH_ACC_2)
    await live(2, { ...WITH_ACC_2, tracking: { src: 'bio' } })
    expect([updatedAt('acc_1'), updatedAt('acc_2')]).toEqual([writeTimestampText(), CHANGED_AT])
  })

  it('named twice, or being the owner, changes nothing', async () => {
    await live(1, WITH_ACC_2)
    const again = { coproducer_account_ids: ['acc_2', 'acc_1', 'acc_2'] }
    expect(await live(2, again)).toBe('unchanged')
  })
})

describe('an order all of whose payments failed', () => {
  const VISIBLE_AGAIN = {
    payments: [sourcePayment({ status: 'FAILED' }), sourcePayment({ id: 'pay_2' })],
  }

  it('has no document but a head', async () => {
    await live(1, INVISIBLE)
    expect(index.keys()).toEqual([])
    expect(index.record('ord_1')).toMatchObject({ version: 1, accountIds: [], deleted: false })
  })

  it('gets a stamped document once it is visible', async () => {
    await live(1, INVISIBLE)
    expect(await live(2, VISIBLE_AGAIN)).toBe('written')
    expect(updatedAt()).toBe(writeTimestampText())
  })

  it('loses its documents when it stops being visible', async () => {
    await live(1, { coproducer_account_ids: ['acc_2'] })
    expect(await live(2, INVISIBLE)).toBe('written')
    expect(index.keys()).toEqual([])
  })

  it('drops versions that are older than the one that hid it', async () => {
    await live(5, INVISIBLE)
    expect(await live(4)).toBe('older')
  })
})
