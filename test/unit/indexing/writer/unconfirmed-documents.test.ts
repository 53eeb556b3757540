import { beforeEach, describe, expect, it } from 'vitest'
import {
  checkDocuments,
  type DecideOptions,
  decide,
} from '../../../../src/indexing/writer/decide.ts'
import type { OrderVersionRecord } from '../../../../src/indexing/writer/version-record.ts'
import { formatInstant } from '../../../../src/lib/instant.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { startWriter, type Version } from '../../../support/orders/order-writer.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { versionRecord } from '../../../support/orders/version-record.ts'

const SHARED: Version = { coproducer_account_ids: ['acc_2'] }
const REFUNDED: Version = { ...SHARED, status: 'REFUNDED' }
const UNDATED: Version = { changed_at: null }

let test: ReturnType<typeof startWriter>
beforeEach(() => {
  test = startWriter()
})

const live = (policy: DecideOptions['policy']): DecideOptions => ({ mode: 'live', policy })
const lastDate = () => formatInstant(test.index.lastWriteTimestamp)
const writtenKey = () => test.index.document('acc_1', 'ord_1')?.writtenKey

describe('a change that is repeated after a crash before its version record', () => {
  it('has a new date, since clients may have paged past the one of its documents', async () => {
    await test.crashAfter(2, 1, SHARED)
    expect(await test.live(1, SHARED)).toBe('written')
    expect([test.updatedAt('acc_1'), test.updatedAt('acc_2')]).toEqual([lastDate(), lastDate()])
    expect(await test.live(1, SHARED)).toBe('older')
  })

  it('has a new date also where an earlier version was confirmed', async () => {
    await test.live(1, SHARED)
    await test.crashAfter(2, 2, REFUNDED)
    expect(await test.live(2, REFUNDED)).toBe('written')
    expect([test.updatedAt('acc_1'), test.updatedAt('acc_2')]).toEqual([lastDate(), lastDate()])
  })

  it('has a new write timestamp where the order has no date', async () => {
    await test.crashAfter(1, 1, UNDATED)
    expect(await test.live(1, UNDATED)).toBe('written')
    expect([test.updatedAt(), writtenKey()]).toEqual([null, test.index.lastWriteTimestamp])
  })

  it('has a new date after a crash of a repair', async () => {
    await test.live(1)
    test.index.failsAfter = 1
    await expect(test.repair(2, { status: 'REFUNDED' })).rejects.toThrow()
    expect(await test.repair(2, { status: 'REFUNDED' })).toBe('written')
    expect(test.updatedAt()).toBe(lastDate())
  })
})

describe('a document that a commit confirmed keeps its date', () => {
  it('when a later version does not change it', async () => {
    await test.live(1, SHARED)
    const before = test.updatedAt()
    expect(await test.live(2, SHARED)).toBe('unchanged')
    expect(await test.live(3, SHARED)).toBe('unchanged')
    expect(test.updatedAt()).toBe(before)
  })

  it('when the crash interrupted a version that does not change it', async () => {
    await test.live(1, SHARED)
    const before = test.updatedAt()
    await test.crashAfter(1, 2, { coproducer_account_ids: ['acc_2', 'acc_3'] })
    expect(await test.live(2, { coproducer_account_ids: ['acc_2', 'acc_3'] })).toBe('written')
    expect([test.updatedAt('acc_1'), test.updatedAt('acc_3')]).toEqual([before, lastDate()])
  })

  it.each<[string, OrderVersionRecord | undefined, DecideOptions]>([
    ['when the version record is of an earlier release', versionRecord(), live('drop')],
    ['in a repair after the version records were lost', undefined, live('repair')],
    ['in a load of history', undefined, { mode: 'history', policy: 'drop' }],
  ])('%s', async (_when, record, options) => {
    await test.live(1)
    const { views } = await (await test.index.lock([])).begin()
    const stored = await views([{ accountId: 'acc_1', orderId: 'ord_1' }])
    const { views: writes } = decide(changeOf(sourceOrder({ version: 2 })), record, stored, options)
    expect(writes).toEqual([])
  })
})

describe('a tombstone that a removal finds', () => {
  const removals = (removedKey: number) => {
    const stored = [{ accountId: 'acc_2', orderId: 'ord_1', removedKey }]
    const record = { ...versionRecord(), accountIds: ['acc_1', 'acc_2'], writtenKey: 5 }
    return decide(changeOf(sourceOrder({ version: 2 })), record, stored, live('drop')).removals
  }

  it('is written again when no commit confirmed it, since it may be lost with its node', () => {
    expect(removals(6)).toEqual([{ accountId: 'acc_2', orderId: 'ord_1' }])
  })

  it('is not written again when a commit confirmed it', () => {
    expect(removals(5)).toEqual([])
  })
})

it('a document replaces a tombstone that no commit confirmed', () => {
  const tombstone = { accountId: 'acc_1', orderId: 'ord_1', removedKey: 6 }
  const change = changeOf(sourceOrder({ version: 2 }))
  const record = { ...versionRecord(), writtenKey: 5 }
  const decided = decide(change, record, [tombstone], live('drop'))
  expect(decided.views).toHaveLength(1)
  expect(checkDocuments(change, record, [tombstone], decided, 'drop')).toBeUndefined()
})
