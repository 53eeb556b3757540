import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'
import { Unavailable } from '../../../src/lib/unavailable.ts'
import type { AuditEntry } from '../../../src/management/audit/audit-entry.ts'
import type { ManagementStores } from '../../../src/management/management-stores.ts'
import { openServices, type Services } from '../../../src/services.ts'
import { type Backend, createBackend, onServices } from '../../support/stores/backend.ts'

let backend: Backend
let services: Services
beforeAll(async () => {
  backend = createBackend()
  const unreachable = { OPENSEARCH_URL: 'http://127.0.0.1:1' }
  services = await openServices(
    parseConfig({ ...backend.env, ...(onServices ? unreachable : {}) }),
    'server',
  )
  if (!onServices) rmSync(join(backend.folder, 'management.db'))
})
afterAll(async () => {
  await services.close()
  await backend.remove()
})

const session = {
  ...{ digest: 'd', accountId: 'acc_1', subject: 'maria', capabilities: [], expiresAt: 1 },
}
const request = { id: 'i', bodyDigest: 'd', createdAt: 1, response: null }
const counted = {
  ...{ day: '2026-11-01', keyId: 'key_1', accountId: 'acc_1', processId: 'run_1' },
  ...{ requests: 1, byStatus: { 200: 1 }, rateLimited: 0, lastUsedAt: 1 },
}
const entry: AuditEntry = {
  ...{ id: 'aud_1', at: 1, actor: 'cli', requestId: null, accountId: 'acc_1', target: 'key_1' },
  action: 'key.create',
  outcome: 'unknown',
}
const claim = { id: 'i', createdAt: [1] }
const days = { accountId: 'acc_1', fromDay: '2026-11-01', toDay: '2026-11-30' }

const calls: [name: string, call: (stores: ManagementStores) => Promise<unknown>][] = [
  ['audit.insert', ({ audit }) => audit.insert(entry)],
  ['audit.setOutcome', ({ audit }) => audit.setOutcome('aud_1', 'done')],
  ['audit.list', ({ audit }) => audit.list({ limit: 1, after: null })],
  ['usage.save', ({ usage }) => usage.save([counted])],
  ['usage.list', ({ usage }) => usage.list(days)],
  ['usage.lastUsedAt', ({ usage }) => usage.lastUsedAt('acc_1')],
  ['usage.purge', ({ usage }) => usage.purge('2026-11-01')],
  ['sessions.insertLink', ({ sessions }) => sessions.insertLink({ ...session, sessionMs: 1 })],
  ['sessions.takeLink', ({ sessions }) => sessions.takeLink('d')],
  ['sessions.insert', ({ sessions }) => sessions.insert(session)],
  ['sessions.find', ({ sessions }) => sessions.find('d')],
  ['sessions.remove', ({ sessions }) => sessions.remove('d')],
  ['sessions.purge', ({ sessions }) => sessions.purge(1)],
  ['idempotency.begin', ({ idempotency }) => idempotency.begin(request, 0)],
  ['idempotency.renew', ({ idempotency }) => idempotency.renew(claim, 2)],
  [
    'idempotency.complete',
    ({ idempotency }) => idempotency.complete(claim, { status: 200, body: '' }),
  ],
  ['idempotency.forget', ({ idempotency }) => idempotency.forget(claim)],
  ['idempotency.purge', ({ idempotency }) => idempotency.purge(1)],
]

describe('a store of the management API that is unavailable', () => {
  it.each(calls)('throws Unavailable from %s', async (_name, call) => {
    await expect(call(services.managementStores)).rejects.toBeInstanceOf(Unavailable)
  })
})
