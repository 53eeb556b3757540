import { beforeEach, describe, expect, it } from 'vitest'
import { formatInstant } from '../../../../src/lib/instant.ts'
import { pathOf, startWriter, type Version } from './order-writer.ts'

let { index, live, backFill, repair, reproject, updatedAt }: ReturnType<typeof startWriter> =
  startWriter()
beforeEach(() => {
  ;({ index, live, backFill, repair, reproject, updatedAt } = startWriter())
})

const SHARED: Version = { coproducer_account_ids: ['acc_2'] }
const document = (accountId = 'acc_1') => index.document(accountId, 'ord_1')
const put = (accountId: string, given: Parameters<typeof index.put>[2]) =>
  index.put(accountId, 'ord_1', given)
const writeTimestampText = () => formatInstant(index.lastWriteTimestamp)
/** Changes the document by hand. */
function alter(changes: Partial<NonNullable<ReturnType<typeof document>>>) {
  const before = document()
  if (before === undefined) throw new Error('there is no document to alter')
  put('acc_1', { ...before, ...changes })
}

describe('a repair of a version that the index has', () => {
  it('writes a missing document, stamped, and leaves the others alone', async () => {
    await backFill(1, SHARED)
    const other = document('acc_2')
    put('acc_1', undefined)
    expect(await repair(1, SHARED)).toBe('written')
    expect([updatedAt('acc_1'), document('acc_2')]).toEqual([writeTimestampText(), other])
  })

  it('replaces a document of an earlier version, as after a restore, and stamps it', async () => {
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
    ['stamp', { writtenKey: Number.NaN }],
  ])('replaces a document that is searched by another %s than it shows', async (_key, changes) => {
    await live(1)
    const { json: _, ...keys } = document() ?? { json: '' }
    alter(changes)
    expect(await repair(1)).toBe('written')
    expect(document()).toMatchObject({
      ...keys,
      updatedKey: index.lastWriteTimestamp,
      writtenKey: index.lastWriteTimestamp,
    })
  })

  it('replaces one whose date is not the one that it is sorted by', async () => {
    await live(1)
    alter({ updatedKey: 1 })
    expect(await repair(1)).toBe('written')
    expect(document()?.updatedKey).toBe(index.lastWriteTimestamp)
  })

  it('replaces a document that is no order any more', async () => {
    await live(1)
    put('acc_1', 'unreadable')
    expect(await repair(1)).toBe('written')
    expect(updatedAt()).toBe(writeTimestampText())
    expect(await repair(1)).toBe('older')
  })

  it('removes the document of an account that the order is not for', async () => {
    await live(1, SHARED)
    const extra = document('acc_2')
    await live(2)
    put('acc_2', extra)
    expect(await repair(2)).toBe('written')
    expect(index.keys()).toEqual(['acc_1:ord_1'])
    expect(await repair(2)).toBe('older')
  })

  it('removes a document of an order that is deleted', async () => {
    await live(1)
    const extra = document()
    await live(2, { deleted: true })
    expect(await repair(2, { deleted: true })).toBe('older')
    put('acc_1', extra)
    expect(await repair(2, { deleted: true })).toBe('written')
    expect(index.keys()).toEqual([])
  })

  it('leaves an order without a date without one', async () => {
    await live(1, { changed_at: null })
    put('acc_1', undefined)
    expect(await repair(1, { changed_at: null })).toBe('written')
    expect([updatedAt(), document()?.writtenKey]).toEqual([null, index.lastWriteTimestamp])
  })

  it('records the accounts and the date that the documents have', async () => {
    await live(1, { ...SHARED, changed_at: null })
    expect(await repair(1)).toBe('written')
    expect(index.record('ord_1')).toMatchObject({ accountIds: ['acc_1'], hasUpdatedAt: true })
    expect(await repair(1)).toBe('older')
  })
})

describe('a repair', () => {
  it('counts a version as older where nothing is wrong, in whatever sequence its accounts come', async () => {
    await live(1, { coproducer_account_ids: ['acc_2', 'acc_3'] })
    const before = document()
    expect(await repair(1, { coproducer_account_ids: ['acc_3', 'acc_2'] })).toBe('older')
    expect(document()).toBe(before)
  })

  it('takes an older version in no case', async () => {
    await live(2)
    put('acc_1', undefined)
    expect(await repair(1)).toBe('older')
    expect(index.keys()).toEqual([])
  })

  it('brings no order back that was deleted with the same version', async () => {
    await live(1)
    await live(2, { deleted: true })
    expect(await repair(2)).toBe('older')
  })

  it('deletes no order that is there with the same version', async () => {
    await live(1)
    expect(await repair(1, { deleted: true })).toBe('older')
    expect(index.keys()).toEqual(['acc_1:ord_1'])
  })

  it('writes a newer version as ever, stamped, and what is damaged of it too', async () => {
    await live(1, SHARED)
    put('acc_2', 'unreadable')
    expect(await repair(2, SHARED)).toBe('written')
    expect([updatedAt('acc_2'), index.record('ord_1')?.version]).toEqual([writeTimestampText(), 2])
  })

  it('refuses another owner, as ever', async () => {
    await live(1)
    expect(pathOf(await repair(1, { owner_account_id: 'acc_9' }))).toBe('/owner_account_id')
  })
})

describe('a document that is no order any more', () => {
  beforeEach(async () => {
    await live(1, SHARED)
    put('acc_2', 'unreadable')
  })

  it('has the versions that would replace it refused, with what to do', async () => {
    expect(await live(2, SHARED)).toEqual({
      path: '',
      reason: expect.stringMatching(
        /account acc_2 .* cannot be parsed as an order.*: replace it with "index load --repair"/,
      ),
    })
    expect(index.record('ord_1')?.version).toBe(1)
  })

  it('is not compared by a version that is there already, unless that is reprojected', async () => {
    expect(await live(1, SHARED)).toBe('older')
    expect(pathOf(await reproject(1, SHARED))).toBe('')
  })

  it('is removed with its account, and with its order', async () => {
    expect(await live(2)).toBe('written')
    put('acc_1', 'unreadable')
    expect(await live(3, { deleted: true })).toBe('written')
    expect(index.keys()).toEqual([])
  })
})

describe('what a writer stamps', () => {
  it('is known to be live after the first live bulk alone', async () => {
    await backFill(1)
    expect(index.hasLiveWrites()).toBe(false)
    await live(2)
    expect(index.hasLiveWrites()).toBe(true)
  })
})
