import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CLI_ACTOR } from '../../../src/management/audit/audit-entry.ts'
import { createAuditLog } from '../../../src/management/audit/audit-log.ts'
import { createSessions } from '../../../src/management/sessions/sessions.ts'
import { type StoresUnderTest, useStores } from '../stores-under-test.ts'

const GRANT = { accountId: 'acc_1', subject: 'maria', capabilities: ['keys'], ttlSeconds: 60 }

describe.each(useStores())('the end of a session on %s', (_name, open) => {
  let opened: StoresUnderTest
  beforeEach(async () => {
    opened = await open()
  })
  afterEach(() => opened.close())

  it('counts at once, also during a request that has read the session', async () => {
    const { keys, managementStores } = opened
    const reached = Promise.withResolvers<void>()
    const resumed = Promise.withResolvers<void>()
    /** What the next lookups wait for. */
    const holds: (() => Promise<void>)[] = []
    const { createLink, exchange, find, end } = createSessions({
      sessions: managementStores.sessions,
      audit: createAuditLog(managementStores.audit, Date.now),
      clock: Date.now,
      keys: {
        async isAccountBlocked(accountId) {
          const isBlocked = await keys.isAccountBlocked(accountId)
          await holds.pop()?.()
          return isBlocked
        },
      },
    })
    const link = await createLink(CLI_ACTOR, GRANT)
    const { secret } = (await exchange(link.secret)) ?? { secret: '' }
    holds.push(() => {
      reached.resolve()
      return resumed.promise
    })
    const request = find(secret)
    await reached.promise
    await end(CLI_ACTOR, secret)
    resumed.resolve()
    await request
    expect(await find(secret)).toBeNull()
  })
})
