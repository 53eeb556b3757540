import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { StoredLink, StoredSession } from '../../../src/management/sessions/session-store.ts'
import {
  type ManagementStoresUnderTest,
  useManagementStores,
} from './management-stores-under-test.ts'

const digestOf = (digit: number) => String(digit).repeat(64)

const session = (changes: Partial<StoredSession> = {}): StoredSession => ({
  digest: digestOf(1),
  accountId: 'acc_1',
  subject: 'maria@loja.example',
  capabilities: ['keys', 'usage'],
  expiresAt: 5_000,
  ...changes,
})
const link = (changes: Partial<StoredLink> = {}): StoredLink => ({
  ...session(),
  sessionMs: 3_600_000,
  ...changes,
})

describe.each(useManagementStores())('the session store on %s', (_name, open) => {
  let stores: ManagementStoresUnderTest
  beforeEach(async () => {
    stores = await open()
  })
  afterEach(() => stores.close())

  it('returns null where there is no link and no session', async () => {
    expect(await stores.sessions.takeLink(digestOf(1))).toBeNull()
    expect(await stores.sessions.find(digestOf(1))).toBeNull()
    await stores.sessions.remove(digestOf(1))
  })

  it('returns a link as it was inserted, once', async () => {
    await stores.sessions.insertLink(link())
    expect(await stores.sessions.takeLink(digestOf(1))).toEqual(link())
    expect(await stores.sessions.takeLink(digestOf(1))).toBeNull()
  })

  it('gives a link to one of many concurrent calls, also of two processes', async () => {
    const other = await stores.openAgain()
    for (let round = 0; round < 5; round += 1) {
      await stores.sessions.insertLink(link())
      const taken = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          (n % 2 === 0 ? stores : other).sessions.takeLink(digestOf(1)),
        ),
      )
      expect(taken.filter((one) => one !== null)).toEqual([link()])
    }
  })

  it.each([
    ['with capabilities', session()],
    ['without any', session({ capabilities: [] })],
  ])(
    'returns a session %s as it was inserted, also to another process',
    async (_what, inserted) => {
      const other = await stores.openAgain()
      await stores.sessions.insert(inserted)
      expect(await stores.sessions.find(digestOf(1))).toEqual(inserted)
      expect(await other.sessions.find(digestOf(1))).toEqual(inserted)
    },
  )

  it('a link is no session, and a session no link', async () => {
    await stores.sessions.insertLink(link({ digest: digestOf(1) }))
    await stores.sessions.insert(session({ digest: digestOf(2) }))
    expect(await stores.sessions.find(digestOf(1))).toBeNull()
    expect(await stores.sessions.takeLink(digestOf(2))).toBeNull()
  })

  it('a removed session is gone at once, for every process', async () => {
    const other = await stores.openAgain()
    await stores.sessions.insert(session())
    await other.sessions.remove(digestOf(1))
    expect(await stores.sessions.find(digestOf(1))).toBeNull()
  })

  it('removes the links and sessions of an account, and no other', async () => {
    for (const [digit, accountId] of [
      [1, 'acc_1'],
      [2, 'acc_10'],
    ] as const) {
      await stores.sessions.insertLink(link({ digest: digestOf(digit), accountId }))
      await stores.sessions.insert(session({ digest: digestOf(digit), accountId }))
    }
    const other = await stores.openAgain()
    await other.sessions.removeOf('acc_1')
    expect(await stores.sessions.find(digestOf(1))).toBeNull()
    expect(await stores.sessions.takeLink(digestOf(1))).toBeNull()
    expect(await stores.sessions.find(digestOf(2))).not.toBeNull()
    expect(await stores.sessions.takeLink(digestOf(2))).not.toBeNull()
  })

  it('purges the links and sessions that ended before an instant, and nothing else', async () => {
    for (const [digit, expiresAt] of [
      [1, 4_999],
      [2, 5_000],
    ] as const) {
      await stores.sessions.insertLink(link({ digest: digestOf(digit), expiresAt }))
      await stores.sessions.insert(session({ digest: digestOf(digit), expiresAt }))
    }
    await stores.sessions.purge(5_000)
    expect(await stores.sessions.find(digestOf(1))).toBeNull()
    expect(await stores.sessions.takeLink(digestOf(1))).toBeNull()
    expect(await stores.sessions.find(digestOf(2))).not.toBeNull()
    expect(await stores.sessions.takeLink(digestOf(2))).not.toBeNull()
  })
})
