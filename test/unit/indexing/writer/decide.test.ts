import { beforeEach, describe, expect, it } from 'vitest'
import { formatInstant } from '../../../../src/lib/instant.ts'
import { INVISIBLE, NOW, pathOf, startWriter } from './order-writer.ts'

let { index, live, backFill, order, updatedAt }: ReturnType<typeof startWriter> = startWriter()

beforeEach(() => {
  ;({ index, live, backFill, order, updatedAt } = startWriter())
})

const CHANGED_AT = '2026-03-01T12:05:00.000Z'
const writeTimestampText = () => formatInstant(index.lastWriteTimestamp)

describe('updated_at of a live change', () => {
  it('is the stamp of its bulk', async () => {
    await live(1)
    expect(updatedAt()).toBe(writeTimestampText())
  })

  it('advances when anything shown changes', async () => {
    await live(1)
    const before = updatedAt()
    await live(2, { status: 'REFUNDED' })
    expect(updatedAt()).toBe(writeTimestampText())
    expect(updatedAt()).not.toBe(before)
  })

  it('stays when nothing shown changes', async () => {
    await live(1)
    const before = updatedAt()
    await live(2)
    expect(updatedAt()).toBe(before)
  })

  it('takes no changed_at in the future amiss', async () => {
    expect(await live(1, { changed_at: formatInstant(NOW + 1) })).toBe('written')
  })
})

describe('the first fill', () => {
  const NOT_YET = { changed_at: null }

  it('is not there before a version comes with a changed_at', async () => {
    await live(1, NOT_YET)
    await live(2, { ...NOT_YET, status: 'REFUNDED' })
    expect([order()?.status, updatedAt()]).toEqual(['REFUNDED', null])
  })

  it('writes a new written_key though the order has no date', async () => {
    await live(1, NOT_YET)
    await live(2, { ...NOT_YET, status: 'REFUNDED' })
    expect(index.document('acc_1', 'ord_1')?.writtenKey).toBe(index.lastWriteTimestamp)
  })

  it('does not write again an order without a date that shows nothing new', async () => {
    await live(1, NOT_YET)
    expect(await live(2, NOT_YET)).toBe('unchanged')
  })

  it('dates an order in which nothing else changed', async () => {
    await live(1, NOT_YET)
    expect(await live(2)).toBe('written')
    expect(updatedAt()).toBe(writeTimestampText())
  })

  it('dates the views of every account', async () => {
    await live(1, { ...NOT_YET, coproducer_account_ids: ['acc_2'] })
    await live(2, { coproducer_account_ids: ['acc_2'] })
    expect([updatedAt('acc_1'), updatedAt('acc_2')]).toEqual([
      writeTimestampText(),
      writeTimestampText(),
    ])
  })

  it('is never taken back', async () => {
    await live(1)
    await live(2, { ...NOT_YET, status: 'REFUNDED' })
    expect(updatedAt()).toBe(writeTimestampText())
  })

  it('is never taken back by a deletion', async () => {
    await live(1)
    await live(2, { deleted: true })
    await live(3, NOT_YET)
    expect(updatedAt()).toBe(writeTimestampText())
  })

  it('is never taken back while the order is not visible', async () => {
    await live(1, { ...INVISIBLE, changed_at: CHANGED_AT })
    await live(2, NOT_YET)
    expect(updatedAt()).toBe(writeTimestampText())
  })

  it('is not there yet after a deletion of an order that never had it', async () => {
    await live(1, NOT_YET)
    await live(2, { deleted: true })
    await live(3, NOT_YET)
    expect(updatedAt()).toBeNull()
  })
})

describe('a back-fill', () => {
  it('keeps the changed_at of an unknown order', async () => {
    await backFill(1)
    expect(updatedAt()).toBe(CHANGED_AT)
  })

  it('keeps it for every account', async () => {
    await backFill(1, { coproducer_account_ids: ['acc_2'] })
    expect(updatedAt('acc_2')).toBe(CHANGED_AT)
  })

  it('has no date without a changed_at', async () => {
    await backFill(1, { changed_at: null })
    expect(updatedAt()).toBeNull()
  })

  it('keeps it whatever the number of the version', async () => {
    await backFill(70)
    expect(updatedAt()).toBe(CHANGED_AT)
  })

  it.each([
    ['was seen', async () => live(1)],
    ['was back-filled', async () => backFill(1)],
    ['was deleted', async () => live(1, { deleted: true })],
    ['is not visible', async () => backFill(1, INVISIBLE)],
    ['has no date', async () => backFill(1, { changed_at: null })],
  ])('stamps an order that %s before', async (_name, before) => {
    await before()
    await backFill(2, { status: 'REFUNDED' })
    expect(updatedAt()).toBe(writeTimestampText())
  })

  it('refuses a changed_at in the future', async () => {
    const result = await backFill(1, { changed_at: formatInstant(NOW + 1) })
    expect(pathOf(result)).toBe('/changed_at')
    expect([index.keys(), index.record('ord_1')]).toEqual([[], undefined])
  })

  it('takes a changed_at of just now', async () => {
    expect(await backFill(1, { changed_at: formatInstant(NOW) })).toBe('written')
  })
})
