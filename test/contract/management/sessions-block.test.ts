import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CLI_ACTOR } from '../../../src/management/audit/audit-entry.ts'
import { createAuditLog } from '../../../src/management/audit/audit-log.ts'
import { createKeyManagement } from '../../../src/management/keys/key-management.ts'
import { createSessions } from '../../../src/management/sessions/sessions.ts'
import { type StoresUnderTest, useStores } from '../stores-under-test.ts'

const ACCOUNT = 'acc_1'

describe.each(useStores())('a block during the exchange of a link on %s', (_name, open) => {
  let opened: StoresUnderTest
  beforeEach(async () => {
    opened = await open()
  })
  afterEach(() => opened.close())

  it('ends its session, also once the account is unblocked', async () => {
    const { keys, managementStores } = opened
    const audit = createAuditLog(managementStores.audit, Date.now)
    const options = { keys, keyPepper: Buffer.alloc(32), audit, clock: Date.now }
    const { setAccountBlocked } = createKeyManagement({
      ...options,
      sessions: managementStores.sessions,
    })
    const inserted: string[] = []
    const blocking: typeof managementStores.sessions = {
      ...managementStores.sessions,
      async insert(session) {
        await setAccountBlocked(CLI_ACTOR, ACCOUNT, true)
        await managementStores.sessions.insert(session)
        inserted.push(session.digest)
      },
    }
    const sessions = createSessions({ keys, audit, clock: Date.now, sessions: blocking })
    const grant = { accountId: ACCOUNT, subject: 'maria', capabilities: ['keys'], ttlSeconds: 60 }
    const { secret } = await sessions.createLink(CLI_ACTOR, grant)
    expect(await sessions.exchange(secret)).toBeNull()
    await setAccountBlocked(CLI_ACTOR, ACCOUNT, false)
    const found = inserted.map((digest) => managementStores.sessions.find(digest))
    expect(await Promise.all(found)).toEqual([null])
  })
})
