import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AuditEntry } from '../../../src/management/audit/audit-entry.ts'
import type { AuditPosition, AuditStore } from '../../../src/management/audit/audit-store.ts'
import {
  type ManagementStoresUnderTest,
  useManagementStores,
} from './management-stores-under-test.ts'

const entry = (changes: Partial<AuditEntry> = {}): AuditEntry => ({
  id: 'aud_1',
  at: 1_000,
  actor: 'token:plataforma "São Paulo"',
  action: 'key.create',
  accountId: 'acc_1',
  target: 'key_1',
  requestId: 'req_1',
  outcome: 'unknown',
  ...changes,
})

const ids = (entries: readonly AuditEntry[]) => entries.map(({ id }) => id)
const FIRST_PAGE = { limit: 100, after: null }

/** The ids of every page of this size, in order. */
async function allPages(audit: AuditStore, limit: number, accountId?: string): Promise<string[]> {
  const found: string[] = []
  const filter = accountId === undefined ? {} : { accountId }
  for (let after: AuditPosition | null = null; ; ) {
    const page: AuditEntry[] = await audit.list({ ...filter, limit, after })
    found.push(...ids(page))
    if (page.length < limit) return found
    after = page.at(-1) ?? null
  }
}

describe.each(useManagementStores())('the audit store on %s', (_name, open) => {
  let stores: ManagementStoresUnderTest
  beforeEach(async () => {
    stores = await open()
  })
  afterEach(() => stores.close())

  it('has no entries at first', async () => {
    expect(await stores.audit.list(FIRST_PAGE)).toEqual([])
  })

  it.each([
    ['of a request', entry()],
    ['of a command', entry({ actor: 'cli', requestId: null, action: 'account.block' })],
    ['of a roll', entry({ action: 'key.roll', successor: 'key_2' })],
  ])('lists an entry %s as it was inserted, at once', async (_what, inserted) => {
    await stores.audit.insert(inserted)
    expect(await stores.audit.list(FIRST_PAGE)).toEqual([inserted])
  })

  it('shows the outcome in the same entry', async () => {
    await stores.audit.insert(entry())
    await stores.audit.setOutcome('aud_1', 'done')
    expect(await stores.audit.list(FIRST_PAGE)).toEqual([entry({ outcome: 'done' })])
  })

  it('ignores the outcome of a missing entry', async () => {
    await stores.audit.setOutcome('aud_missing', 'done')
    expect(await stores.audit.list(FIRST_PAGE)).toEqual([])
  })

  it('lists the newest first, of one account when one is given', async () => {
    await stores.audit.insert(entry({ id: 'aud_1', at: 1_000 }))
    await stores.audit.insert(entry({ id: 'aud_2', at: 3_000, accountId: 'acc_2' }))
    await stores.audit.insert(entry({ id: 'aud_3', at: 2_000 }))
    expect(ids(await stores.audit.list(FIRST_PAGE))).toEqual(['aud_2', 'aud_3', 'aud_1'])
    const list = await stores.audit.list({ ...FIRST_PAGE, accountId: 'acc_1' })
    expect(ids(list)).toEqual(['aud_3', 'aud_1'])
  })

  // Changes of test endpoints were once stored under their internal account.
  it.each([1, 2, 3, 9])(
    'pages of %i show the entries of an account with its sandbox',
    async (limit) => {
      const accounts = [
        'acc_1',
        'acc_1.test',
        'acc_2',
        'acc_1.test',
        'acc_1',
        'acc_2.test',
        'acc_1',
      ]
      for (const [n, accountId] of accounts.entries()) {
        await stores.audit.insert(entry({ id: `aud_${n}`, at: n < 4 ? 1_000 : 2_000, accountId }))
      }
      const expected = ['aud_6', 'aud_4', 'aud_3', 'aud_1', 'aud_0']
      expect(await allPages(stores.audit, limit, 'acc_1')).toEqual(expected)
    },
  )

  it.each([1, 2, 3, 7])('pages of %i show entries of equal instants once each', async (limit) => {
    const names = Array.from({ length: 7 }, (_, n) => `aud_${n}`)
    for (const [n, id] of names.entries()) {
      await stores.audit.insert(entry({ id, at: n < 5 ? 1_000 : 2_000 }))
    }
    await stores.audit.insert(entry({ id: 'aud_other', accountId: 'acc_2' }))
    const expected = ['aud_6', 'aud_5', 'aud_4', 'aud_3', 'aud_2', 'aud_1', 'aud_0']
    expect(await allPages(stores.audit, limit, 'acc_1')).toEqual(expected)
    expect(await allPages(stores.audit, limit)).toEqual([
      ...expected.slice(0, 2),
      'aud_other',
      ...expected.slice(2),
    ])
  })

  it('a page after an entry does not show entries that were inserted since', async () => {
    for (const n of [1, 2, 3]) await stores.audit.insert(entry({ id: `aud_${n}`, at: n }))
    const [newest] = await stores.audit.list({ limit: 1, after: null })
    await stores.audit.insert(entry({ id: 'aud_4', at: 4 }))
    const next = await stores.audit.list({ limit: 100, after: newest ?? null })
    expect(ids(next)).toEqual(['aud_2', 'aud_1'])
  })

  it('lists the entries of every process', async () => {
    const other = await stores.openAgain()
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => {
        const { audit } = n % 2 === 0 ? stores : other
        return audit.insert(entry({ id: `aud_${n}`, at: n }))
      }),
    )
    expect(await stores.audit.list(FIRST_PAGE)).toHaveLength(20)
    expect(await other.audit.list(FIRST_PAGE)).toHaveLength(20)
  })
})
