import { beforeEach, describe, expect, it } from 'vitest'
import { formatInstant } from '../../../../src/lib/instant.ts'
import { ORDER_SCHEMA_VERSION } from '../../../../src/orders/order.ts'
import { pathOf, startWriter, type Version } from '../../../support/orders/order-writer.ts'

let { index, live, history, reproject, crashAfter, updatedAt }: ReturnType<typeof startWriter> =
  startWriter()
beforeEach(() => {
  ;({ index, live, history, reproject, crashAfter, updatedAt } = startWriter())
})

const CHANGED_AT = '2026-03-01T12:05:00.000Z'
const UTM = { utm: { utm_source: 'radio' } }
const SHARED: Version = { ...UTM, tracking: { src: 'bio' }, coproducer_account_ids: ['acc_2'] }
const document = (accountId = 'acc_1') => index.document(accountId, 'ord_1')
const writeTimestampText = () => formatInstant(index.lastWriteTimestamp)
const downgrade = (field: 'utm' | 'tracking', accountId = 'acc_1') =>
  index.downgradeSchema(accountId, 'ord_1', field)

describe('the reprojection of an equal version after the schema gained a field', () => {
  it('a reprojection fills the field and sets the write timestamp when it has a value', async () => {
    await history(1, UTM)
    downgrade('utm')
    expect(await reproject(1, UTM)).toBe('written')
    expect(index.order('acc_1', 'ord_1')?.utm).toMatchObject({ utm_source: 'radio' })
    expect([document()?.schemaVersion, updatedAt()]).toEqual([
      ORDER_SCHEMA_VERSION,
      writeTimestampText(),
    ])
  })

  it('a reprojection keeps the dates when the new field is null', async () => {
    await history(1)
    const before = document()
    downgrade('utm')
    expect(await reproject(1)).toBe('written')
    expect(document()).toEqual(before)
    expect([updatedAt(), index.record('ord_1')?.version]).toEqual([CHANGED_AT, 1])
  })

  it('a reprojection sets the write timestamp only for accounts with new content', async () => {
    await history(1, SHARED)
    downgrade('tracking', 'acc_1')
    downgrade('tracking', 'acc_2')
    expect(await reproject(1, SHARED)).toBe('written')
    expect([updatedAt('acc_1'), updatedAt('acc_2')]).toEqual([writeTimestampText(), CHANGED_AT])
    expect(document('acc_2')?.schemaVersion).toBe(ORDER_SCHEMA_VERSION)
  })

  it('a reprojection leaves documents of the current schema version', async () => {
    await history(1, SHARED)
    const before = document('acc_2')
    downgrade('utm', 'acc_1')
    await reproject(1, SHARED)
    expect(document('acc_2')).toBe(before)
  })
})

describe('the reprojection of an order without a date', () => {
  const NOT_YET: Version = { changed_at: null }

  it('an undated order without new content is not returned to a reader again', async () => {
    await live(1, NOT_YET)
    const written = document()?.writtenKey
    downgrade('utm')
    expect(await reproject(1, NOT_YET)).toBe('written')
    expect([document()?.schemaVersion, document()?.writtenKey]).toEqual([
      ORDER_SCHEMA_VERSION,
      written,
    ])
    expect(updatedAt()).toBeNull()
  })

  it('an undated order with new content is returned again, and stays undated', async () => {
    await live(1, { ...NOT_YET, ...UTM })
    downgrade('utm')
    await reproject(1, { ...NOT_YET, ...UTM })
    expect([document()?.writtenKey, updatedAt()]).toEqual([index.lastWriteTimestamp, null])
  })
})

describe('versions without a reprojection', () => {
  it('a version whose documents have the current schema version counts as older', async () => {
    await live(1)
    const before = document()
    expect(await reproject(1, UTM)).toBe('older')
    expect(document()).toBe(before)
  })

  it('an older version is dropped, whatever the schema version', async () => {
    await live(2)
    downgrade('utm')
    expect(await reproject(1, UTM)).toBe('older')
    expect(document()?.schemaVersion).toBe(ORDER_SCHEMA_VERSION - 1)
  })

  it('an order that this version deleted is not reprojected', async () => {
    await live(1)
    await live(2, { deleted: true })
    expect(await reproject(2)).toBe('older')
    expect(index.keys()).toEqual([])
  })

  it('an order that this version deleted is not reprojected, even with an orphan of a later one', async () => {
    await live(1)
    await live(2, { deleted: true })
    await crashAfter(1, 3)
    downgrade('utm')
    expect(await reproject(2)).toBe('older')
    expect(index.record('ord_1')?.deleted).toBe(true)
  })

  it('a deletion with an equal version is not reprojected', async () => {
    await live(1)
    downgrade('utm')
    expect(await reproject(1, { deleted: true })).toBe('older')
    expect(index.keys()).toEqual(['acc_1:ord_1'])
  })

  it('an equal version counts as older unless a reprojection is requested', async () => {
    await live(1)
    downgrade('utm')
    expect(await live(1, UTM)).toBe('older')
    expect(document()?.schemaVersion).toBe(ORDER_SCHEMA_VERSION - 1)
  })

  it.each<[string, Version]>([
    ['/owner_account_id', { owner_account_id: 'acc_9' }],
    ['/created_at', { created_at: '2026-03-01T12:00:00.001Z' }],
  ])('a reprojection rejects an equal version with another %s', async (path, given) => {
    await live(1)
    downgrade('utm')
    expect(pathOf(await reproject(1, given))).toBe(path)
  })
})

describe('a newer version during a reprojection', () => {
  it('a newer version with new content sets the write timestamp', async () => {
    await history(1)
    expect(await reproject(2, { status: 'REFUNDED' })).toBe('written')
    expect(updatedAt()).toBe(writeTimestampText())
  })

  it('a newer version without new content updates the schema version of the document', async () => {
    await history(1)
    downgrade('utm')
    expect(await reproject(2)).toBe('written')
    expect([document()?.schemaVersion, updatedAt()]).toEqual([ORDER_SCHEMA_VERSION, CHANGED_AT])
    expect(index.record('ord_1')?.version).toBe(2)
  })
})

it('a reprojection that was interrupted between two documents continues where it ended', async () => {
  await history(1, SHARED)
  downgrade('utm', 'acc_1')
  downgrade('utm', 'acc_2')
  index.failsAfter = 1
  await expect(reproject(1, SHARED)).rejects.toThrow('it all ended')
  expect(await reproject(1, SHARED)).toBe('written')
  expect([document('acc_1')?.schemaVersion, document('acc_2')?.schemaVersion]).toEqual([
    ORDER_SCHEMA_VERSION,
    ORDER_SCHEMA_VERSION,
  ])
})
