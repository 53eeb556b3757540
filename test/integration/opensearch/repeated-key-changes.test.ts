import { expect, it, onTestFinished } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'
import { CLI_ACTOR } from '../../../src/management/audit/audit-entry.ts'
import { createAuditLog } from '../../../src/management/audit/audit-log.ts'
import {
  createKeyManagement,
  type KeyManagement,
} from '../../../src/management/keys/key-management.ts'
import { openServices, type Services } from '../../../src/services.ts'
import { createBackend, opensearch } from '../../support/stores/backend.ts'
import { keyRecord } from '../../support/stores/key-record.ts'

async function start() {
  const backend = createBackend()
  const config = parseConfig(backend.env)
  const services = await openServices(config)
  onTestFinished(async () => {
    await services.close()
    await backend.remove()
  })
  const { audit, sessions } = services.managementStores
  const keyPepper = new Uint8Array(32)
  const log = createAuditLog(audit, Date.now)
  const stores = { keys: services.keys, sessions }
  const management = createKeyManagement({ ...stores, keyPepper, audit: log, clock: Date.now })
  await services.keys.insert(keyRecord())
  const path = `${config.indexPrefix}api-keys-v1/_doc/d1`
  const writes = async () => (await opensearch<{ _version: number }>('GET', path))._version
  return { management, keys: services.keys, writes }
}

it.each<[string, (management: KeyManagement, keys: Services['keys']) => Promise<unknown>]>([
  ['revocation', (management) => management.revoke(CLI_ACTOR, { id: 'key_1' })],
  ['expiry', (_management, keys) => keys.expire('d1', 5_000)],
])('a repeated %s is a write, which every shard copy confirms', async (_what, change) => {
  const { management, keys, writes } = await start()
  await change(management, keys)
  const before = await keys.byId('key_1')
  expect(await writes()).toBe(2)
  await change(management, keys)
  expect(await writes()).toBe(3)
  expect(await keys.byId('key_1')).toEqual(before)
})
