import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { decide, viewKeys } from '../../../../src/indexing/writing/decide.ts'
import type { Head } from '../../../../src/indexing/writing/order-index.ts'
import { formatInstant } from '../../../../src/lib/instant.ts'
import { changeOf } from '../../../support/changes.ts'
import { sourceOrder } from '../../../support/source-order.ts'
import { INVISIBLE, NOW, pathOf, startWriter, type Version } from './writing.ts'

const CREATED_KEY = Date.parse('2026-03-01T12:00:00Z')

const head = (changes: Partial<Head> = {}): Head => ({
  orderId: 'ord_1',
  version: 1,
  ownerAccountId: 'acc_1',
  accountIds: ['acc_1'],
  createdKey: CREATED_KEY,
  filled: true,
  deleted: false,
  ...changes,
})

const change = (coproducers: string[] = []) =>
  changeOf(sourceOrder({ version: 2, coproducer_account_ids: coproducers }))
const announced = (coproducers: string[], known?: Head) =>
  decide(change(coproducers), known, [], 'live').announcements

describe('what is announced before the documents are written', () => {
  it('is nothing where only the owner gets one, who may have one anyway', () => {
    expect(announced([])).toEqual([])
    expect(announced([], head({ accountIds: [] }))).toEqual([])
  })

  it('is nothing where the head names every account already', () => {
    expect(announced(['acc_2'], head({ accountIds: ['acc_2'] }))).toEqual([])
  })

  it('of a new order is a head of no version with its accounts', () => {
    expect(announced(['acc_2', 'acc_3'])).toEqual([
      head({
        version: 0,
        accountIds: ['acc_1', 'acc_2', 'acc_3'],
        createdKey: null,
        filled: false,
      }),
    ])
  })

  it('of a known order is its head as it was, with the new accounts beside the old ones', () => {
    const known = head({ accountIds: ['acc_1', 'acc_9'], deleted: true })
    expect(announced(['acc_2'], known)).toEqual([
      { ...known, accountIds: ['acc_1', 'acc_9', 'acc_2'] },
    ])
  })
})

describe('the documents that are looked for', () => {
  it.each([
    ['an unknown order', undefined, ['acc_1']],
    ['an order without documents', head({ accountIds: [] }), ['acc_1']],
    ['a shared order', head({ accountIds: ['acc_1', 'acc_2'] }), ['acc_1', 'acc_2']],
    ['an order that only a co-producer sees', head({ accountIds: ['acc_2'] }), ['acc_1', 'acc_2']],
  ])(
    'of %s are those of its owner, of its head and of whom it is shown to',
    (_name, known, ids) => {
      const keysOf = (accountIds: string[]) =>
        accountIds.map((accountId) => ({ accountId, orderId: 'ord_1' }))
      expect(viewKeys(change(['acc_8']), known)).toEqual(keysOf([...ids, 'acc_8']))
      expect(viewKeys(change(), known)).toEqual(keysOf(ids))
    },
  )

  it('of a deletion are those of its owner and of its head', () => {
    const deletion = changeOf({
      id: 'ord_1',
      version: 2,
      owner_account_id: 'acc_1',
      deleted: true,
    })
    const keys = viewKeys(deletion, head({ accountIds: ['acc_2'] }))
    expect(keys.map(({ accountId }) => accountId)).toEqual(['acc_1', 'acc_2'])
  })
})

let {
  index,
  live,
  backFill,
  cutShort,
  cutShortBackFill,
  updatedAt,
}: ReturnType<typeof startWriter> = startWriter()
beforeEach(() => {
  ;({ index, live, backFill, cutShort, cutShortBackFill, updatedAt } = startWriter())
})

const SHARED: Version = { coproducer_account_ids: ['acc_2'] }
const DELETED: Version = { deleted: true }

describe('a document whose head was never written', () => {
  it.each([
    ['of the owner', 1, {}],
    ['of a co-producer', 3, SHARED],
  ])('%s goes with the deletion of the order', async (_name, items, first) => {
    await cutShort(items, 1, first)
    expect(index.keys()).not.toEqual([])
    expect(await live(2, DELETED)).toBe('written')
    expect(index.keys()).toEqual([])
  })

  it('of a co-producer who left goes with the next version', async () => {
    await live(1)
    await cutShort(2, 2, SHARED)
    expect(index.keys()).toEqual(['acc_1:ord_1', 'acc_2:ord_1'])
    await live(3)
    expect(index.keys()).toEqual(['acc_1:ord_1'])
  })

  it('is not taken away where it was never written either', async () => {
    await live(1)
    await cutShort(1, 2, SHARED) // Of the co-producer's document only the announcement was written.
    expect(index.head('ord_1')?.accountIds).toEqual(['acc_1', 'acc_2'])
    expect(await live(2)).toBe('unchanged')
    expect(index.head('ord_1')?.accountIds).toEqual(['acc_1'])
  })

  it('counts as shown when the version comes again', async () => {
    await cutShort(1, 1)
    const before = updatedAt()
    expect(await live(1)).toBe('unchanged')
    expect([updatedAt(), index.head('ord_1')?.version]).toEqual([before, 1])
  })

  it('keeps its date for good', async () => {
    await live(1, { changed_at: null })
    await cutShort(1, 2)
    await live(3, { changed_at: null, status: 'REFUNDED' })
    expect(updatedAt()).toBe(formatInstant(index.stamp))
  })
})

describe('a back-fill that comes again after an attempt without its head', () => {
  const CHANGED_AT = '2026-03-01T12:05:00.000Z'
  const REFUNDED = { ...SHARED, status: 'REFUNDED' as const }
  // The announcement and a document for each account, but not the head.
  beforeEach(() => cutShortBackFill(3, 1, SHARED))

  it('keeps the documents that are there as they are', async () => {
    const stamp = index.stamp
    expect(await backFill(1, SHARED)).toBe('unchanged')
    expect([updatedAt('acc_1'), updatedAt('acc_2')]).toEqual([CHANGED_AT, CHANGED_AT])
    expect(index.document('acc_1', 'ord_1')?.writtenKey).toBe(stamp)
    expect(index.head('ord_1')).toMatchObject({ version: 1, filled: true })
  })

  it('stamps those that differ', async () => {
    expect(await backFill(2, REFUNDED)).toBe('written')
    const stamp = formatInstant(index.stamp)
    expect([updatedAt('acc_1'), updatedAt('acc_2')]).toEqual([stamp, stamp])
  })

  it('gives those that are not there yet their date', async () => {
    const shared = { coproducer_account_ids: ['acc_2', 'acc_3'] }
    expect(await backFill(2, shared)).toBe('written')
    expect([updatedAt('acc_1'), updatedAt('acc_3')]).toEqual([CHANGED_AT, CHANGED_AT])
  })

  it('stamps those that were left without a date', async () => {
    ;({ index, backFill, cutShortBackFill, updatedAt } = startWriter())
    await cutShortBackFill(1, 1, { changed_at: null })
    expect(index.keys()).toEqual(['acc_1:ord_1'])
    await backFill(2)
    expect(updatedAt()).toBe(formatInstant(index.stamp))
  })
})

describe('a head of no version', () => {
  beforeEach(() => cutShort(1, 5, SHARED))

  it('is all that is there before the documents', () => {
    expect([index.keys(), index.head('ord_1')?.version]).toEqual([[], 0])
  })

  it.each([1, 5])('lets version %d in', async (version) => {
    expect(await live(version)).toBe('written')
    expect(index.head('ord_1')).toMatchObject({ version, accountIds: ['acc_1'] })
  })

  it('leaves a back-fill its date', async () => {
    await backFill(1)
    expect(updatedAt()).toBe('2026-03-01T12:05:00.000Z')
  })

  it('leaves a back-fill no date in the future', async () => {
    const verdict = await backFill(1, { changed_at: formatInstant(NOW + 1) })
    expect(pathOf(verdict)).toBe('/changed_at')
  })

  it('holds the owner, and no creation yet', async () => {
    expect(pathOf(await live(1, { owner_account_id: 'acc_9' }))).toBe('/owner_account_id')
    expect(await live(1, { created_at: '2026-03-01T11:00:00Z' })).toBe('written')
  })
})

describe('whatever ends in the middle of a bulk', () => {
  const version = fc.record({
    given: fc.oneof(
      fc.constantFrom<Version>(DELETED, INVISIBLE, { ...INVISIBLE, ...SHARED }),
      fc.record({
        coproducer_account_ids: fc.subarray(['acc_2', 'acc_3', 'acc_4']),
        status: fc.constantFrom('PAID' as const, 'REFUNDED' as const),
        changed_at: fc.constantFrom(null, '2026-03-01T12:05:00Z'),
      }),
    ),
    items: fc.option(fc.nat(8), { nil: Infinity }),
    comesAgain: fc.boolean(),
  })

  it('the last version is shown to just its accounts, and no document loses its date', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(version, { minLength: 1, maxLength: 8 }), async (versions) => {
        const cut = startWriter()
        const whole = startWriter()
        let dated: string[] = []
        const checkDates = () => {
          const accountIds = cut.index.keys().map((key) => key.split(':')[0] ?? '')
          const undated = accountIds.filter((accountId) => cut.updatedAt(accountId) === null)
          expect(undated.filter((accountId) => dated.includes(accountId))).toEqual([])
          dated = accountIds.filter((accountId) => !undated.includes(accountId))
        }

        for (const [at, { given, items, comesAgain }] of versions.entries()) {
          await whole.live(at + 1, given)
          await cut.cutShort(items, at + 1, given)
          checkDates()
          if (comesAgain || at === versions.length - 1) await cut.live(at + 1, given)
          checkDates()
        }

        expect(cut.index.keys()).toEqual(whole.index.keys())
        expect(cut.order()?.status).toBe(whole.order()?.status)
        expect(cut.index.head('ord_1')).toMatchObject({
          version: versions.length,
          accountIds: whole.index.head('ord_1')?.accountIds,
          deleted: whole.index.head('ord_1')?.deleted,
        })
      }),
      { numRuns: 300 },
    )
  })
})
