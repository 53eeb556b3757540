import { beforeEach, describe, expect, it } from 'vitest'
import { formatInstant } from '../../../../src/lib/instant.ts'
import { pathOf, startWriter, type Version } from '../../../support/orders/order-writer.ts'

let { index, live, history, repair, reproject, updatedAt }: ReturnType<typeof startWriter> =
  startWriter()
beforeEach(() => {
  ;({ index, live, history, repair, reproject, updatedAt } = startWriter())
})

const SHARED: Version = { coproducer_account_ids: ['acc_2'] }
const document = (accountId = 'acc_1') => index.document(accountId, 'ord_1')
const put = (accountId: string, given: Parameters<typeof index.put>[2]) =>
  index.put(accountId, 'ord_1', given)
const writeTimestampText = () => formatInstant(index.lastWriteTimestamp)
/** Changes the document directly. */
function alter(changes: Partial<NonNullable<ReturnType<typeof document>>>) {
  const before = document()
  if (before === undefined) throw new Error('there is no document to alter')
  put('acc_1', { ...before, ...changes })
}

describe('the repair of a version that the index has', () => {
  it('a repair writes a missing document with the write timestamp and leaves the others', async () => {
    await history(1, SHARED)
    const other = document('acc_2')
    put('acc_1', undefined)
    expect(await repair(1, SHARED)).toBe('written')
    expect([updatedAt('acc_1'), document('acc_2')]).toEqual([writeTimestampText(), other])
  })

  it('a repair replaces a document of an earlier version and dates it with the write timestamp', async () => {
    await live(1)
    const restored = document()
    await live(2, { status: 'REFUNDED' })
    put('acc_1', restored)
    expect(await live(2, { status: 'REFUNDED' })).toBe('older')
    expect(await repair(2, { status: 'REFUNDED' })).toBe('written')
    expect([index.order('acc_1', 'ord_1')?.status, updatedAt()]).toEqual([
      'REFUNDED',
      writeTimestampText(),
    ])
  })

  it.each([
    ['status', { status: 'REFUNDED' }],
    ['method', { paymentMethod: 'BOLETO' }],
    ['creation', { createdKey: 1 }],
    ['write timestamp', { writtenKey: Number.NaN }],
  ])(
    'a repair replaces a document whose search key for %s differs from its content',
    async (_key, changes) => {
      await live(1)
      const { json: _, ...keys } = document() ?? { json: '' }
      alter(changes)
      expect(await repair(1)).toBe('written')
      expect(document()).toMatchObject({
        ...keys,
        updatedKey: index.lastWriteTimestamp,
        writtenKey: index.lastWriteTimestamp,
      })
    },
  )

  it('a repair replaces a document whose date differs from its sort key', async () => {
    await live(1)
    alter({ updatedKey: 1 })
    expect(await repair(1)).toBe('written')
    expect(document()?.updatedKey).toBe(index.lastWriteTimestamp)
  })

  it('a repair replaces a document that cannot be parsed', async () => {
    await live(1)
    put('acc_1', 'unreadable')
    expect(await repair(1)).toBe('written')
    expect(updatedAt()).toBe(writeTimestampText())
    expect(await repair(1)).toBe('older')
  })

  it('a repair removes the document of an account without the order', async () => {
    await live(1, SHARED)
    const extra = document('acc_2')
    await live(2)
    put('acc_2', extra)
    expect(await repair(2)).toBe('written')
    expect(index.keys()).toEqual(['acc_1:ord_1'])
    expect(await repair(2)).toBe('older')
  })

  it('a repair removes a document of a deleted order', async () => {
    await live(1)
    const extra = document()
    await live(2, { deleted: true })
    expect(await repair(2, { deleted: true })).toBe('older')
    put('acc_1', extra)
    expect(await repair(2, { deleted: true })).toBe('written')
    expect(index.keys()).toEqual([])
  })

  it('a repair keeps an order without a date undated', async () => {
    await live(1, { changed_at: null })
    put('acc_1', undefined)
    expect(await repair(1, { changed_at: null })).toBe('written')
    expect([updatedAt(), document()?.writtenKey]).toEqual([null, index.lastWriteTimestamp])
  })

  it('a repair records the accounts and the date of the documents', async () => {
    await live(1, { ...SHARED, changed_at: null })
    expect(await repair(1)).toBe('written')
    expect(index.record('ord_1')).toMatchObject({ accountIds: ['acc_1'], hasUpdatedAt: true })
    expect(await repair(1)).toBe('older')
  })
})

describe('the repair of an index', () => {
  it('a repair counts a consistent version as older, in any sequence of its accounts', async () => {
    await live(1, { coproducer_account_ids: ['acc_2', 'acc_3'] })
    const before = document()
    expect(await repair(1, { coproducer_account_ids: ['acc_3', 'acc_2'] })).toBe('older')
    expect(document()).toBe(before)
  })

  it('a repair never accepts an older version', async () => {
    await live(2)
    put('acc_1', undefined)
    expect(await repair(1)).toBe('older')
    expect(index.keys()).toEqual([])
  })

  it('a repair does not restore an order that the same version deleted', async () => {
    await live(1)
    await live(2, { deleted: true })
    expect(await repair(2)).toBe('older')
  })

  it('a repair does not delete an order that the same version wrote', async () => {
    await live(1)
    expect(await repair(1, { deleted: true })).toBe('older')
    expect(index.keys()).toEqual(['acc_1:ord_1'])
  })

  it('a repair writes a newer version with the write timestamp, damaged documents included', async () => {
    await live(1, SHARED)
    put('acc_2', 'unreadable')
    expect(await repair(2, SHARED)).toBe('written')
    expect([updatedAt('acc_2'), index.record('ord_1')?.version]).toEqual([writeTimestampText(), 2])
  })

  it('a repair rejects another owner', async () => {
    await live(1)
    expect(pathOf(await repair(1, { owner_account_id: 'acc_9' }))).toBe('/owner_account_id')
  })
})

describe('a document that cannot be parsed', () => {
  beforeEach(async () => {
    await live(1, SHARED)
    put('acc_2', 'unreadable')
  })

  it('the writer rejects a version that would replace an unreadable document, and names the repair', async () => {
    expect(await live(2, SHARED)).toEqual({
      path: '',
      reason: expect.stringMatching(
        /account acc_2 .* cannot be parsed as an order.*: replace it with "index load --repair"/,
      ),
    })
    expect(index.record('ord_1')?.version).toBe(1)
  })

  it('an equal version is not compared with an unreadable document unless it is reprojected', async () => {
    expect(await live(1, SHARED)).toBe('older')
    expect(pathOf(await reproject(1, SHARED))).toBe('')
  })

  it('the writer removes an unreadable document with its account and with its order', async () => {
    expect(await live(2)).toBe('written')
    put('acc_1', 'unreadable')
    expect(await live(3, { deleted: true })).toBe('written')
    expect(index.keys()).toEqual([])
  })
})

describe('the record of live writes', () => {
  it('the index has live writes only after the first live bulk', async () => {
    await history(1)
    expect(index.hasLiveWrites()).toBe(false)
    await live(2)
    expect(index.hasLiveWrites()).toBe(true)
  })
})
