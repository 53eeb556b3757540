import { beforeEach, describe, expect, it } from 'vitest'
import { formatInstant } from '../../../../src/lib/instant.ts'
import { ORDER_SCHEMA_VERSION } from '../../../../src/orders/order.ts'
import { pathOf, startWriter, type Version } from './order-writer.ts'

let { index, live, backFill, reproject, crashAfter, updatedAt }: ReturnType<typeof startWriter> =
  startWriter()
beforeEach(() => {
  ;({ index, live, backFill, reproject, crashAfter, updatedAt } = startWriter())
})

const CHANGED_AT = '2026-03-01T12:05:00.000Z'
const UTM = { utm: { utm_source: 'radio' } }
const SHARED: Version = { ...UTM, tracking: { src: 'bio' }, coproducer_account_ids: ['acc_2'] }
const document = (accountId = 'acc_1') => index.document(accountId, 'ord_1')
const writeTimestampText = () => formatInstant(index.lastWriteTimestamp)
const downgrade = (field: 'utm' | 'tracking', accountId = 'acc_1') =>
  index.downgradeSchema(accountId, 'ord_1', field)

describe('a version that is there already, of a field that was added to the shape since', () => {
  it('fills the field and is stamped where it has a value', async () => {
    await backFill(1, UTM)
    downgrade('utm')
    expect(await reproject(1, UTM)).toBe('written')
    expect(index.order('acc_1', 'ord_1')?.utm).toMatchObject({ utm_source: 'radio' })
    expect([document()?.schemaVersion, updatedAt()]).toEqual([
      ORDER_SCHEMA_VERSION,
      writeTimestampText(),
    ])
  })

  it('is written and keeps its dates where the field is null, as readers are shown it', async () => {
    await backFill(1)
    const before = document()
    downgrade('utm')
    expect(await reproject(1)).toBe('written')
    expect(document()).toEqual(before)
    expect([updatedAt(), index.record('ord_1')?.version]).toEqual([CHANGED_AT, 1])
  })

  it('is stamped for the accounts that see something new alone', async () => {
    await backFill(1, SHARED)
    downgrade('tracking', 'acc_1')
    downgrade('tracking', 'acc_2')
    expect(await reproject(1, SHARED)).toBe('written')
    expect([updatedAt('acc_1'), updatedAt('acc_2')]).toEqual([writeTimestampText(), CHANGED_AT])
    expect(document('acc_2')?.schemaVersion).toBe(ORDER_SCHEMA_VERSION)
  })

  it('leaves alone the documents of the current shape', async () => {
    await backFill(1, SHARED)
    const before = document('acc_2')
    downgrade('utm', 'acc_1')
    await reproject(1, SHARED)
    expect(document('acc_2')).toBe(before)
  })
})

describe('an order without a date that is brought to the current shape', () => {
  const NOT_YET: Version = { changed_at: null }

  it('is not given again to a reader of the undated orders where it shows nothing new', async () => {
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

  it('is given again where it shows something new, and has no date still', async () => {
    await live(1, { ...NOT_YET, ...UTM })
    downgrade('utm')
    await reproject(1, { ...NOT_YET, ...UTM })
    expect([document()?.writtenKey, updatedAt()]).toEqual([index.lastWriteTimestamp, null])
  })
})

describe('what is not brought to the current shape', () => {
  it('is an order whose documents have it: its version counts as older', async () => {
    await live(1)
    const before = document()
    expect(await reproject(1, UTM)).toBe('older')
    expect(document()).toBe(before)
  })

  it('is an older version, whatever the shape', async () => {
    await live(2)
    downgrade('utm')
    expect(await reproject(1, UTM)).toBe('older')
    expect(document()?.schemaVersion).toBe(ORDER_SCHEMA_VERSION - 1)
  })

  it('is an order that was deleted with this version', async () => {
    await live(1)
    await live(2, { deleted: true })
    expect(await reproject(2)).toBe('older')
    expect(index.keys()).toEqual([])
  })

  it('is an order that was deleted with it, though something of a later one is left', async () => {
    await live(1)
    await live(2, { deleted: true })
    await crashAfter(1, 3)
    downgrade('utm')
    expect(await reproject(2)).toBe('older')
    expect(index.record('ord_1')?.deleted).toBe(true)
  })

  it('is an order whose deletion comes with a version that is there', async () => {
    await live(1)
    downgrade('utm')
    expect(await reproject(1, { deleted: true })).toBe('older')
    expect(index.keys()).toEqual(['acc_1:ord_1'])
  })

  it('is a version that is not asked to be: by itself it counts as older', async () => {
    await live(1)
    downgrade('utm')
    expect(await live(1, UTM)).toBe('older')
    expect(document()?.schemaVersion).toBe(ORDER_SCHEMA_VERSION - 1)
  })

  it.each<[string, Version]>([
    ['/owner_account_id', { owner_account_id: 'acc_9' }],
    ['/created_at', { created_at: '2026-03-01T12:00:00.001Z' }],
  ])('is a version with another %s, which is refused', async (path, given) => {
    await live(1)
    downgrade('utm')
    expect(pathOf(await reproject(1, given))).toBe(path)
  })
})

describe('a newer version that comes with a reprojection', () => {
  it('is stamped where it shows something new, as ever', async () => {
    await backFill(1)
    expect(await reproject(2, { status: 'REFUNDED' })).toBe('written')
    expect(updatedAt()).toBe(writeTimestampText())
  })

  it('that shows nothing new brings the document to the current shape', async () => {
    await backFill(1)
    downgrade('utm')
    expect(await reproject(2)).toBe('written')
    expect([document()?.schemaVersion, updatedAt()]).toEqual([ORDER_SCHEMA_VERSION, CHANGED_AT])
    expect(index.record('ord_1')?.version).toBe(2)
  })
})

it('what was cut short between two documents goes on where it ended', async () => {
  await backFill(1, SHARED)
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
