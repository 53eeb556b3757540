import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { viewKeys } from '../../../../src/indexing/writer/decide.ts'
import { formatInstant } from '../../../../src/lib/instant.ts'
import { INVISIBLE, startWriter, type Version } from '../../../support/orders/order-writer.ts'
import { versionRecord } from '../../../support/orders/version-record.ts'

describe('the possible documents of an order', () => {
  const keysOf = (...accountIds: string[]) =>
    accountIds.map((accountId) => ({ accountId, orderId: 'ord_1' }))

  it.each([
    ['an unknown order', undefined, [], []],
    ['an unknown order with orphans', undefined, ['acc_2'], ['acc_2']],
    ['an invisible order', versionRecord({ accountIds: [] }), [], []],
    [
      'a shared order',
      versionRecord({ accountIds: ['acc_1', 'acc_2'] }),
      ['acc_1'],
      ['acc_1', 'acc_2'],
    ],
    ['an order with orphans', versionRecord(), ['acc_1', 'acc_9'], ['acc_1', 'acc_9']],
  ])(
    'the possible documents of %s are those of its version record and those found by search',
    (_name, known, found, expected) => {
      expect(viewKeys('ord_1', known, keysOf(...found))).toEqual(keysOf(...expected))
    },
  )
})

let {
  index,
  live,
  history,
  crashAfter,
  crashHistoryAfter,
  updatedAt,
}: ReturnType<typeof startWriter> = startWriter()
beforeEach(() => {
  ;({ index, live, history, crashAfter, crashHistoryAfter, updatedAt } = startWriter())
})

const SHARED: Version = { coproducer_account_ids: ['acc_2'] }
const DELETED: Version = { deleted: true }

describe('a document without a version record', () => {
  it.each([
    ['of the owner', 1, {}],
    ['of a co-producer', 2, SHARED],
  ])('the deletion of the order removes an orphan %s', async (_name, items, first) => {
    await crashAfter(items, 1, first)
    expect(index.keys()).not.toEqual([])
    expect(await live(2, DELETED)).toBe('written')
    expect(index.keys()).toEqual([])
  })

  it('the next version removes the orphan of a removed co-producer', async () => {
    await live(1)
    await crashAfter(2, 2, SHARED)
    expect(index.keys()).toEqual(['acc_1:ord_1', 'acc_2:ord_1'])
    await live(3)
    expect(index.keys()).toEqual(['acc_1:ord_1'])
  })

  it('an orphan keeps its date', async () => {
    await live(1, { changed_at: null })
    await crashAfter(1, 2)
    await live(3, { changed_at: null, status: 'REFUNDED' })
    expect(updatedAt()).toBe(formatInstant(index.lastWriteTimestamp))
  })
})

describe('a repeated load of history after an attempt without its version record', () => {
  const CHANGED_AT = '2026-03-01T12:05:00.000Z'
  const REFUNDED = { ...SHARED, status: 'REFUNDED' as const }
  // A document for each account, without the version record.
  beforeEach(() => crashHistoryAfter(2, 1, SHARED))

  it('the load of history leaves identical documents unchanged', async () => {
    const writeTimestamp = index.lastWriteTimestamp
    expect(await history(1, SHARED)).toBe('unchanged')
    expect([updatedAt('acc_1'), updatedAt('acc_2')]).toEqual([CHANGED_AT, CHANGED_AT])
    expect(index.document('acc_1', 'ord_1')?.writtenKey).toBe(writeTimestamp)
    expect(index.record('ord_1')).toMatchObject({ version: 1, hasUpdatedAt: true })
  })

  it('the load of history dates differing documents with the write timestamp', async () => {
    expect(await history(2, REFUNDED)).toBe('written')
    const writeTimestamp = formatInstant(index.lastWriteTimestamp)
    expect([updatedAt('acc_1'), updatedAt('acc_2')]).toEqual([writeTimestamp, writeTimestamp])
  })

  it('the load of history dates missing documents with their changed_at', async () => {
    const shared = { coproducer_account_ids: ['acc_2', 'acc_3'] }
    expect(await history(2, shared)).toBe('written')
    expect([updatedAt('acc_1'), updatedAt('acc_3')]).toEqual([CHANGED_AT, CHANGED_AT])
  })

  it('the load of history dates documents without a date with the write timestamp', async () => {
    ;({ index, history, crashHistoryAfter, updatedAt } = startWriter())
    await crashHistoryAfter(1, 1, { changed_at: null })
    expect(index.keys()).toEqual(['acc_1:ord_1'])
    await history(2)
    expect(updatedAt()).toBe(formatInstant(index.lastWriteTimestamp))
  })
})

describe('any interruption of a bulk', () => {
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

  it('the last version is visible to exactly its accounts, and no document loses its date', async () => {
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
