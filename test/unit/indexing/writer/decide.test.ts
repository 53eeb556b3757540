import { beforeEach, describe, expect, it } from 'vitest'
import { formatInstant } from '../../../../src/lib/instant.ts'
import { INVISIBLE, NOW, pathOf, startWriter } from '../../../support/orders/order-writer.ts'

let { index, live, history, order, updatedAt }: ReturnType<typeof startWriter> = startWriter()

beforeEach(() => {
  ;({ index, live, history, order, updatedAt } = startWriter())
})

const CHANGED_AT = '2026-03-01T12:05:00.000Z'
const writeTimestampText = () => formatInstant(index.lastWriteTimestamp)

describe('updated_at of a live change', () => {
  it('updated_at is the write timestamp of its bulk', async () => {
    await live(1)
    expect(updatedAt()).toBe(writeTimestampText())
  })

  it('updated_at advances when visible content changes', async () => {
    await live(1)
    const before = updatedAt()
    await live(2, { status: 'REFUNDED' })
    expect(updatedAt()).toBe(writeTimestampText())
    expect(updatedAt()).not.toBe(before)
  })

  it('updated_at stays when no visible content changes', async () => {
    await live(1)
    const before = updatedAt()
    await live(2)
    expect(updatedAt()).toBe(before)
  })

  it('a live change accepts a changed_at in the future', async () => {
    expect(await live(1, { changed_at: formatInstant(NOW + 1) })).toBe('written')
  })
})

describe('the initial fill', () => {
  const NOT_YET = { changed_at: null }

  it('an order has no date before a version has a changed_at', async () => {
    await live(1, NOT_YET)
    await live(2, { ...NOT_YET, status: 'REFUNDED' })
    expect([order()?.status, updatedAt()]).toEqual(['REFUNDED', null])
  })

  it('the writer sets a new written_key for a changed order without a date', async () => {
    await live(1, NOT_YET)
    await live(2, { ...NOT_YET, status: 'REFUNDED' })
    expect(index.document('acc_1', 'ord_1')?.writtenKey).toBe(index.lastWriteTimestamp)
  })

  it('the writer does not rewrite an order without a date and without new content', async () => {
    await live(1, NOT_YET)
    expect(await live(2, NOT_YET)).toBe('unchanged')
  })

  it('the initial fill dates an order without other changes', async () => {
    await live(1, NOT_YET)
    expect(await live(2)).toBe('written')
    expect(updatedAt()).toBe(writeTimestampText())
  })

  it('the initial fill dates the views of every account', async () => {
    await live(1, { ...NOT_YET, coproducer_account_ids: ['acc_2'] })
    await live(2, { coproducer_account_ids: ['acc_2'] })
    expect([updatedAt('acc_1'), updatedAt('acc_2')]).toEqual([
      writeTimestampText(),
      writeTimestampText(),
    ])
  })

  it('a later version without changed_at keeps the date', async () => {
    await live(1)
    await live(2, { ...NOT_YET, status: 'REFUNDED' })
    expect(updatedAt()).toBe(writeTimestampText())
  })

  it('a deletion keeps the date for later versions', async () => {
    await live(1)
    await live(2, { deleted: true })
    await live(3, NOT_YET)
    expect(updatedAt()).toBe(writeTimestampText())
  })

  it('an invisible version keeps the date for later versions', async () => {
    await live(1, { ...INVISIBLE, changed_at: CHANGED_AT })
    await live(2, NOT_YET)
    expect(updatedAt()).toBe(writeTimestampText())
  })

  it('a deletion of an order without a date adds none', async () => {
    await live(1, NOT_YET)
    await live(2, { deleted: true })
    await live(3, NOT_YET)
    expect(updatedAt()).toBeNull()
  })
})

describe('a load of history', () => {
  it('a load of history keeps the changed_at of an unknown order', async () => {
    await history(1)
    expect(updatedAt()).toBe(CHANGED_AT)
  })

  it('a load of history keeps the changed_at for every account', async () => {
    await history(1, { coproducer_account_ids: ['acc_2'] })
    expect(updatedAt('acc_2')).toBe(CHANGED_AT)
  })

  it('a load of history without a changed_at writes no date', async () => {
    await history(1, { changed_at: null })
    expect(updatedAt()).toBeNull()
  })

  it('a load of history keeps the changed_at of any version number', async () => {
    await history(70)
    expect(updatedAt()).toBe(CHANGED_AT)
  })

  it.each([
    ['was seen', async () => live(1)],
    ['was written as history', async () => history(1)],
    ['was deleted', async () => live(1, { deleted: true })],
    ['is not visible', async () => history(1, INVISIBLE)],
    ['has no date', async () => history(1, { changed_at: null })],
  ])(
    'a load of history dates an order that %s before with the write timestamp',
    async (_name, before) => {
      await before()
      await history(2, { status: 'REFUNDED' })
      expect(updatedAt()).toBe(writeTimestampText())
    },
  )

  it('a load of history rejects a changed_at in the future', async () => {
    const result = await history(1, { changed_at: formatInstant(NOW + 1) })
    expect(pathOf(result)).toBe('/changed_at')
    expect([index.keys(), index.record('ord_1')]).toEqual([[], undefined])
  })

  it('a load of history accepts a changed_at of the present', async () => {
    expect(await history(1, { changed_at: formatInstant(NOW) })).toBe('written')
  })
})
