import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { UsageCounters } from '../../../src/management/usage/usage-store.ts'
import {
  type ManagementStoresUnderTest,
  useManagementStores,
} from './management-stores-under-test.ts'

/** Of each test, because OpenSearch keeps the version of a deleted document for a minute. */
let processId = ''

const counted = (changes: Partial<UsageCounters> = {}): UsageCounters => ({
  day: '2026-11-02',
  keyId: 'key_1',
  accountId: 'acc_1',
  processId,
  requests: 5,
  byStatus: { 200: 3, 304: 1, 429: 1 },
  rateLimited: 1,
  lastUsedAt: 1_000,
  ...changes,
})

const NOVEMBER = { accountId: 'acc_1', fromDay: '2026-11-01', toDay: '2026-11-30' }

describe.each(useManagementStores())('the usage store on %s', (_name, open) => {
  let stores: ManagementStoresUnderTest
  beforeEach(async () => {
    processId = randomUUID()
    stores = await open()
  })
  afterEach(() => stores.close())

  it('has no counters and no last use at first', async () => {
    await stores.usage.save([])
    expect(await stores.usage.list(NOVEMBER)).toEqual([])
    expect(await stores.usage.lastUsedAt('acc_1')).toEqual(new Map())
  })

  it('replaces the counters of the same day, key and process', async () => {
    await stores.usage.save([counted()])
    await stores.usage.save([counted()])
    const later = { requests: 6, byStatus: { 200: 4, 304: 1, 429: 1 }, lastUsedAt: 2_000 }
    await stores.usage.save([counted(later)])
    expect(await stores.usage.list(NOVEMBER)).toEqual([counted({ ...later, processId: '' })])
  })

  it('sums any number of counters', async () => {
    const runs = Array.from({ length: 2_500 }, (_, n) =>
      counted({ processId: `${processId}_${n}` }),
    )
    await stores.usage.save([...runs, counted({ day: '2026-11-03' })])
    const sums = await stores.usage.list(NOVEMBER)
    expect(sums.map(({ day, requests }) => [day, requests])).toEqual([
      ['2026-11-02', 12_500],
      ['2026-11-03', 5],
    ])
  })

  it('sums the processes, also those that save at the same time', async () => {
    const other = await stores.openAgain()
    await Promise.all([
      stores.usage.save([counted()]),
      other.usage.save([
        counted({ processId: `${processId}_2`, byStatus: { 200: 4, 404: 1 }, rateLimited: 0 }),
      ]),
      stores.usage.save([counted({ processId: `${processId}_3`, lastUsedAt: 9_000 })]),
    ])
    expect(await other.usage.list(NOVEMBER)).toEqual([
      counted({
        processId: '',
        requests: 15,
        byStatus: { 200: 10, 304: 2, 404: 1, 429: 2 },
        rateLimited: 2,
        lastUsedAt: 9_000,
      }),
    ])
  })

  it('lists the days of the range, both ends included, by day and then by key', async () => {
    const days = ['2026-10-31', '2026-11-30', '2026-11-01', '2026-12-01']
    await stores.usage.save([
      ...days.map((day) => counted({ day })),
      counted({ day: '2026-11-01', keyId: 'key_0' }),
      counted({ accountId: 'acc_2', keyId: 'key_2' }),
    ])
    const listed = await stores.usage.list(NOVEMBER)
    expect(listed.map(({ day, keyId }) => [day, keyId])).toEqual([
      ['2026-11-01', 'key_0'],
      ['2026-11-01', 'key_1'],
      ['2026-11-30', 'key_1'],
    ])
  })

  it('lists more counters than one page of a search', async () => {
    const counters = Array.from({ length: 1_205 }, (_, n) =>
      counted({ keyId: `key_${String(n).padStart(4, '0')}` }),
    )
    await stores.usage.save(counters)
    const listed = await stores.usage.list(NOVEMBER)
    expect(listed.map(({ keyId }) => keyId)).toEqual(counters.map(({ keyId }) => keyId))
    expect((await stores.usage.lastUsedAt('acc_1')).size).toBe(1_205)
  })

  it('returns the last use of each key of an account, over days and processes', async () => {
    await stores.usage.save([
      counted({ day: '2026-10-01', lastUsedAt: 3_000 }),
      counted({ processId: `${processId}_2`, lastUsedAt: 1_764_000_000_123 }),
      counted({ keyId: 'key_2', lastUsedAt: 2_000 }),
      counted({ keyId: 'key_3', accountId: 'acc_2' }),
    ])
    expect(await stores.usage.lastUsedAt('acc_1')).toEqual(
      new Map([
        ['key_1', 1_764_000_000_123],
        ['key_2', 2_000],
      ]),
    )
  })

  it('purges the days before a day, and nothing else', async () => {
    const days = ['2025-10-18', '2025-10-19', '2026-11-02']
    await stores.usage.save(days.map((day) => counted({ day })))
    await stores.usage.purge('2025-10-19')
    const listed = await stores.usage.list({ ...NOVEMBER, fromDay: '2000-01-01' })
    expect(listed.map(({ day }) => day)).toEqual(['2025-10-19', '2026-11-02'])
  })

  it('purges one day at a time, of all accounts', async () => {
    const days = ['2025-10-18', '2025-10-19', '2026-11-02']
    await stores.usage.save(days.map((day) => counted({ day })))
    await stores.usage.save([counted({ day: '2025-10-18', accountId: 'acc_2', keyId: 'key_2' })])
    await stores.usage.purge('2028-01-01')
    const since = { ...NOVEMBER, fromDay: '2000-01-01' }
    expect((await stores.usage.list(since)).map(({ day }) => day)).toEqual(days.slice(1))
    expect(await stores.usage.list({ ...since, accountId: 'acc_2' })).toEqual([])
  })
})
