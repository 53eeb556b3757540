import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'
import { Unavailable } from '../../../src/lib/errors/unavailable.ts'
import type { AuditEntry } from '../../../src/management/audit/audit-entry.ts'
import type { RequestClaim } from '../../../src/management/idempotency/idempotency-store.ts'
import type { ManagementStores } from '../../../src/management/management-stores.ts'
import { openServices, type Services } from '../../../src/services.ts'
import { sandboxOrder } from '../../support/management/sandbox.ts'
import { type Backend, createBackend, onServices } from '../../support/stores/backend.ts'
import { proxyTo, startServer } from '../../support/stores/scripted/scripted-server.ts'

let backend: Backend
let services: Services
let claim: RequestClaim
beforeAll(async () => {
  backend = createBackend()
  const [url = ''] = `${backend.env['OPENSEARCH_URL']}`.split(',')
  const node = await startServer([proxyTo(url)])
  const env = { ...backend.env, ...(onServices ? { OPENSEARCH_URL: node.url } : {}) }
  services = await openServices(parseConfig(env), 'server')
  await services.initialize()
  const begun = await services.managementStores.idempotency.begin({ ...request, id: 'held' }, since)
  if (!('claim' in begun)) throw new Error('the request was begun before')
  claim = begun.claim
  await node.close()
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
const since = { completed: 0, inProgress: 0 }
const days = { accountId: 'acc_1', fromDay: '2026-11-01', toDay: '2026-11-30' }

type Call = (stores: ManagementStores) => Promise<unknown>

/** Every method of every store. */
const calls: { [S in keyof ManagementStores]: Record<keyof ManagementStores[S], Call> } = {
  audit: {
    insert: ({ audit }) => audit.insert(entry),
    setOutcome: ({ audit }) => audit.setOutcome('aud_1', 'done'),
    list: ({ audit }) => audit.list({ limit: 1, after: null }),
  },
  usage: {
    save: ({ usage }) => usage.save([counted]),
    list: ({ usage }) => usage.list(days),
    lastUsedAt: ({ usage }) => usage.lastUsedAt('acc_1'),
    purge: ({ usage }) => usage.purge('2026-11-01'),
  },
  sessions: {
    insertLink: ({ sessions }) => sessions.insertLink({ ...session, sessionMs: 1 }),
    takeLink: ({ sessions }) => sessions.takeLink('d'),
    insert: ({ sessions }) => sessions.insert(session),
    find: ({ sessions }) => sessions.find('d'),
    remove: ({ sessions }) => sessions.remove('d'),
    removeOf: ({ sessions }) => sessions.removeOf('acc_1'),
    purge: ({ sessions }) => sessions.purge(1),
  },
  idempotency: {
    begin: ({ idempotency }) => idempotency.begin(request, since),
    purge: ({ idempotency }) => idempotency.purge(1),
  },
  sandbox: {
    insert: ({ sandbox }) => sandbox.insert(sandboxOrder()),
    find: ({ sandbox }) => sandbox.find('acc_1', 'ord_1'),
    replace: ({ sandbox }) => sandbox.replace(sandboxOrder()),
    count: ({ sandbox }) => sandbox.count('acc_1'),
    list: ({ sandbox }) => sandbox.list({ accountId: 'acc_1', limit: 1, after: null }),
  },
}
const rows = Object.entries(calls).flatMap(([store, methods]) =>
  Object.entries<Call>(methods).map(([method, call]) => [`${store}.${method}`, call] as const),
)

describe('a store of the management API that is unavailable', () => {
  it.each(rows)('throws Unavailable from %s', async (_name, call) => {
    await expect(call(services.managementStores)).rejects.toBeInstanceOf(Unavailable)
  })

  it.each<[keyof RequestClaim, () => Promise<void>]>([
    ['renew', () => claim.renew(2)],
    ['complete', () => claim.complete({ status: 200, body: '{}' })],
    ['forget', () => claim.forget()],
  ])('throws Unavailable from %s of a claim', async (_name, call) => {
    await expect(call()).rejects.toBeInstanceOf(Unavailable)
  })
})
