import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { viewKeys } from '../../../../src/indexing/writer/decide.ts'
import type { OrderVersionRecord } from '../../../../src/indexing/writer/order-index.ts'
import { formatInstant } from '../../../../src/lib/instant.ts'
import { INVISIBLE, startWriter, type Version } from './order-writer.ts'

const CREATED_KEY = Date.parse('2026-03-01T12:00:00Z')

const record = (changes: Partial<OrderVersionRecord> = {}): OrderVersionRecord => ({
  orderId: 'ord_1',
  version: 1,
  ownerAccountId: 'acc_1',
  accountIds: ['acc_1'],
  createdKey: CREATED_KEY,
  hasUpdatedAt: true,
  deleted: false,
  ...changes,
})

describe('the documents that are looked for', () => {
  const keysOf = (...accountIds: string[]) =>
    accountIds.map((accountId) => ({ accountId, orderId: 'ord_1' }))

  it.each([
    ['an unknown order', undefined, [], []],
    ['an unknown order that left some', undefined, ['acc_2'], ['acc_2']],
    ['an order that nobody sees', record({ accountIds: [] }), [], []],
    ['a shared order', record({ accountIds: ['acc_1', 'acc_2'] }), ['acc_1'], ['acc_1', 'acc_2']],
    ['an order that left some', record(), ['acc_1', 'acc_9'], ['acc_1', 'acc_9']],
  ])('of %s are those of its head and those that were found', (_name, known, found, expected) => {
    expect(viewKeys('ord_1', known, keysOf(...found))).toEqual(keysOf(...expected))
  })
})

let {
  index,
  live,
  backFill,
  crashAfter,
  crashBackFillAfter,
  updatedAt,
}: ReturnType<typeof startWriter> = startWriter()
beforeEach(() => {
  ;({ index, live, backFill, crashAfter, crashBackFillAfter, updatedAt } = startWriter())
})

const SHARED: Version = { coproducer_account_ids: ['acc_2'] }
const DELETED: Version = { deleted: true }

describe('a document whose head was never written', () => {
  it.each([
    ['of the owner', 1, {}],
    ['of a co-producer', 2, SHARED],
  ])('%s goes with the deletion of the order', async (_name, items, first) => {
    await crashAfter(items, 1, first)
    expect(index.keys()).not.toEqual([])
    expect(await live(2, DELETED)).toBe('written')
    expect(index.keys()).toEqual([])
  })

  it('of a co-producer who left goes with the next version', async () => {
    await live(1)
    await crashAfter(2, 2, SHARED)
    expect(index.keys()).toEqual(['acc_1:ord_1', 'acc_2:ord_1'])
    await live(3)
    expect(index.keys()).toEqual(['acc_1:ord_1'])
  })

  it('counts as shown when the version comes again', async () => {
    await crashAfter(1, 1)
    const before = updatedAt()
    expect(await live(1)).toBe('unchanged')
    expect([updatedAt(), index.record('ord_1')?.version]).toEqual([before, 1])
  })

  it('keeps its date for good', async () => {
    await live(1, { changed_at: null })
    await crashAfter(1, 2)
    await live(3, { changed_at: null, status: 'REFUNDED' })
    expect(updatedAt()).toBe(formatInstant(index.lastWriteTimestamp))
  })
})

describe('a back-fill that comes again after an attempt without its head', () => {
  const CHANGED_AT = '2026-03-01T12:05:00.000Z'
  const REFUNDED = { ...SHARED, status: 'REFUNDED' as const }
  // A document for each account, but not the head.
  beforeEach(() => crashBackFillAfter(2, 1, SHARED))

  it('keeps the documents that are there as they are', async () => {
    const stamp = index.lastWriteTimestamp
    expect(await backFill(1, SHARED)).toBe('unchanged')
    expect([updatedAt('acc_1'), updatedAt('acc_2')]).toEqual([CHANGED_AT, CHANGED_AT])
    expect(index.document('acc_1', 'ord_1')?.writtenKey).toBe(stamp)
    expect(index.record('ord_1')).toMatchObject({ version: 1, hasUpdatedAt: true })
  })

  it('stamps those that differ', async () => {
    expect(await backFill(2, REFUNDED)).toBe('written')
    const stamp = formatInstant(index.lastWriteTimestamp)
    expect([updatedAt('acc_1'), updatedAt('acc_2')]).toEqual([stamp, stamp])
  })

  it('gives those that are not there yet their date', async () => {
    const shared = { coproducer_account_ids: ['acc_2', 'acc_3'] }
    expect(await backFill(2, shared)).toBe('written')
    expect([updatedAt('acc_1'), updatedAt('acc_3')]).toEqual([CHANGED_AT, CHANGED_AT])
  })

  it('stamps those that were left without a date', async () => {
    ;({ index, backFill, crashBackFillAfter, updatedAt } = startWriter())
    await crashBackFillAfter(1, 1, { changed_at: null })
    expect(index.keys()).toEqual(['acc_1:ord_1'])
    await backFill(2)
    expect(updatedAt()).toBe(formatInstant(index.lastWriteTimestamp))
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
    isRetried: fc.boolean(),
  })

  it('the last version is shown to just its accounts, and no document loses its date', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(version, { minLength: 1, maxLength: 8 }), async (versions) => {
        const crashed = startWriter()
        const whole = startWriter()
        let dated: string[] = []
        const checkDates = () => {
          const accountIds = crashed.index.keys().map((key) => key.split(':')[0] ?? '')
          const undated = accountIds.filter((accountId) => crashed.updatedAt(accountId) === null)
          expect(undated.filter((accountId) => dated.includes(accountId))).toEqual([])
          dated = accountIds.filter((accountId) => !undated.includes(accountId))
        }

        for (const [at, { given, items, isRetried }] of versions.entries()) {
          await whole.live(at + 1, given)
          await crashed.crashAfter(items, at + 1, given)
          checkDates()
          if (isRetried || at === versions.length - 1) await crashed.live(at + 1, given)
          checkDates()
        }

        expect(crashed.index.keys()).toEqual(whole.index.keys())
        expect(crashed.order()?.status).toBe(whole.order()?.status)
        expect(crashed.index.record('ord_1')).toMatchObject({
          version: versions.length,
          accountIds: whole.index.record('ord_1')?.accountIds,
          deleted: whole.index.record('ord_1')?.deleted,
        })
      }),
      { numRuns: 300 },
    )
  })
})
