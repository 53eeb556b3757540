import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { DAY_MS } from '../../../src/lib/durations.ts'
import { purgeExpired, startHousekeeping } from '../../../src/management/housekeeping.ts'
import {
  type ManagementStoresUnderTest,
  useManagementStores,
} from './management-stores-under-test.ts'

const NOW = Date.parse('2026-11-23T12:00:00Z')

const usedOn = (day: string) => ({
  ...{ day, keyId: 'key_1', accountId: 'acc_1', processId: randomUUID() },
  ...{ requests: 1, byStatus: { 200: 1 }, rateLimited: 0, lastUsedAt: 1 },
})
const session = (digest: string, expiresAt: number) => ({
  ...{ digest, expiresAt, accountId: 'acc_1', subject: 'maria', capabilities: [] },
})
const ALL = { completed: 0, inProgress: 0 }
const request = (id: string, createdAt: number) => ({
  ...{ id, createdAt, bodyDigest: 'digest', response: null },
})

describe.each(useManagementStores())('the housekeeping on %s', (_name, open) => {
  let stores: ManagementStoresUnderTest
  beforeEach(async () => {
    stores = await open()
    await stores.usage.save(['2025-10-18', '2025-10-19', '2026-11-23'].map(usedOn))
    await stores.sessions.insert(session('ended', NOW - 1))
    await stores.sessions.insert(session('open', NOW))
    await stores.idempotency.begin(request('old', NOW - DAY_MS - 1), ALL)
    await stores.idempotency.begin(request('recent', NOW - DAY_MS), ALL)
    await stores.audit.insert({
      ...{ id: 'aud_1', at: 1, actor: 'cli', requestId: null, accountId: 'acc_1', target: 'key_1' },
      action: 'key.create',
      outcome: 'done',
    })
  })
  afterEach(() => stores.close())

  async function kept() {
    const days = { accountId: 'acc_1', fromDay: '2000-01-01', toDay: '9999-12-31' }
    const isKept = async (id: string) =>
      'found' in (await stores.idempotency.begin(request(id, NOW), ALL))
    return {
      days: (await stores.usage.list(days)).map(({ day }) => day),
      ended: (await stores.sessions.find('ended')) !== null,
      open: (await stores.sessions.find('open')) !== null,
      old: await isKept('old'),
      recent: await isKept('recent'),
      entries: (await stores.audit.list({ limit: 10, after: null })).length,
    }
  }
  const afterPurge = {
    ...{ days: ['2025-10-19', '2026-11-23'], ended: false, open: true, old: false },
    ...{ recent: true, entries: 1 },
  }

  it('removes what expired, and no entry of the audit log', async () => {
    await purgeExpired(stores, NOW)
    expect(await kept()).toEqual(afterPurge)
  })

  it('purges at its start, together with another process', async () => {
    const failures: unknown[] = []
    const other = await stores.openAgain()
    const running = [stores, other].map((each) =>
      startHousekeeping({
        stores: each,
        clock: () => NOW,
        onFailure: (error) => failures.push(error),
      }),
    )
    await Promise.all(running.map(({ close }) => close()))
    expect(failures).toEqual([])
    expect(await kept()).toEqual(afterPurge)
  })

  it('purges every hour, and no more once it is closed', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const earlier = [NOW - DAY_MS]
    const housekeeping = startHousekeeping({
      stores,
      clock: () => earlier.pop() ?? NOW,
      onFailure: (error) => expect.unreachable(String(error)),
    })
    vi.advanceTimersByTime(3_600_000)
    expect(vi.getTimerCount()).toBe(1)
    await housekeeping.close()
    expect(vi.getTimerCount()).toBe(0)
    expect(await kept()).toEqual(afterPurge)
  })

  it('removes one day of usage at a time, so that a wrong clock cannot remove all', async () => {
    await purgeExpired(stores, NOW + 1_000 * DAY_MS)
    expect((await kept()).days).toEqual(['2025-10-19', '2026-11-23'])
  })

  it('reports a failed purge and keeps running', async () => {
    const failures: unknown[] = []
    const broken = {
      ...stores,
      sessions: { ...stores.sessions, purge: () => Promise.reject('no') },
    }
    const onFailure = (error: unknown) => failures.push(error)
    await startHousekeeping({ stores: broken, clock: () => NOW, onFailure }).close()
    expect(failures).toEqual(['no'])
  })
})
