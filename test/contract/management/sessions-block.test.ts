import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AuditEntry, CLI_ACTOR } from '../../../src/management/audit/audit-entry.ts'
import { type AuditLog, createAuditLog } from '../../../src/management/audit/audit-log.ts'
import {
  createKeyManagement,
  type KeyManagement,
} from '../../../src/management/keys/key-management.ts'
import type { SessionStore } from '../../../src/management/sessions/session-store.ts'
import { createSessions } from '../../../src/management/sessions/sessions.ts'
import { type StoresUnderTest, useStores } from '../stores-under-test.ts'

const ACCOUNT = 'acc_1'
const GRANT = { accountId: ACCOUNT, subject: 'maria', capabilities: ['keys'], ttlSeconds: 60 }

describe.each(useStores())('a block on %s', (_name, open) => {
  let opened: StoresUnderTest
  let audit: AuditLog
  let management: KeyManagement
  beforeEach(async () => {
    opened = await open()
    const { keys, managementStores } = opened
    audit = createAuditLog(managementStores.audit, Date.now)
    const options = { keys, keyPepper: Buffer.alloc(32), audit, clock: Date.now }
    management = createKeyManagement({ ...options, sessions: managementStores.sessions })
  })
  afterEach(() => opened.close())

  const block = () => management.setAccountBlocked(CLI_ACTOR, ACCOUNT, true)
  const unblock = () => management.setAccountBlocked(CLI_ACTOR, ACCOUNT, false)
  const sessionsOver = (sessions: SessionStore) =>
    createSessions({ keys: opened.keys, audit, clock: Date.now, sessions })

  it('during the exchange of a link ends its session, also once the account is unblocked', async () => {
    const { sessions: stored } = opened.managementStores
    const inserted: string[] = []
    const sessions = sessionsOver({
      ...stored,
      async insert(session) {
        await block()
        await stored.insert(session)
        inserted.push(session.digest)
      },
    })
    const { secret } = await sessions.createLink(CLI_ACTOR, GRANT)
    expect(await sessions.exchange(secret)).toBeNull()
    await unblock()
    const found = inserted.map((digest) => stored.find(digest))
    expect(await Promise.all(found)).toEqual([null])
  })

  it('during the creation of a link ends it, also once the account is unblocked', async () => {
    const { sessions: stored } = opened.managementStores
    const inserted: string[] = []
    const sessions = sessionsOver({
      ...stored,
      async insertLink(link) {
        await block()
        await stored.insertLink(link)
        inserted.push(link.digest)
      },
    })
    const created = sessions.createLink(CLI_ACTOR, GRANT)
    await expect(created).rejects.toHaveProperty('code', 'account_blocked')
    await unblock()
    const taken = inserted.map((digest) => stored.takeLink(digest))
    expect(await Promise.all(taken)).toEqual([null])
    const [entry] = (await audit.list({ limit: 3, after: null })).filter(isCreation)
    expect(entry).toMatchObject({ outcome: 'failed' })
  })

  it('ends a session within 5 seconds, also when the clock is set back meanwhile', async () => {
    let monotonicMs = 0
    const { createLink, exchange, find } = createSessions({
      keys: opened.keys,
      audit,
      sessions: opened.managementStores.sessions,
      clock: Date.now,
      monotonic: () => monotonicMs,
    })
    const link = await createLink(CLI_ACTOR, GRANT)
    const { secret } = (await exchange(link.secret)) ?? { secret: '' }
    expect(await find(secret)).toMatchObject({ accountId: ACCOUNT })
    await block()
    monotonicMs += 5_000 // The wall clock stays: it was set back by as much.
    expect(await find(secret)).toBeNull()
  })
})

const isCreation = ({ action }: AuditEntry) => action === 'session.create'
