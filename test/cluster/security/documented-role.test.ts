import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { FIRST_START_MS } from '../../harness/services/opensearch/opensearch.ts'
import { startBackground } from '../../support/cli/background-process.ts'
import { runCommand } from '../../support/cli/command.ts'
import { startWatch } from '../../support/cli/watch-process.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import {
  documentedRole,
  PREFIX,
  SERVICE_USER,
  SNAPSHOT_USER,
} from '../../support/secured/documented-role.ts'
import { matchesAny } from '../../support/secured/role-permissions.ts'
import { type SecuredCluster, startSecuredCluster } from '../../support/secured/secured-cluster.ts'
import { callService, startWholeService } from '../../support/secured/whole-service.ts'
import { becomesDispatcher } from '../../support/webhooks/delivering.ts'
import { startRecordingReceiver } from '../../support/webhooks/sending/recording-receiver.ts'

// The tests follow each other on one cluster, as an operator would who sets up the service.

const role = documentedRole()
const orders = [1, 2, 3].map((n) => sourceOrder({ id: `ord_${n}` }))

let cluster: SecuredCluster
let env: Record<string, string>
let file: string
beforeAll(async () => {
  const snapshots = documentedRole(SNAPSHOT_USER)
  cluster = await startSecuredCluster({ [SERVICE_USER]: role, [SNAPSHOT_USER]: snapshots })
  env = { ...cluster.env(SERVICE_USER), WEBHOOK_ALLOW: '127.0.0.0/8' }
  file = join(cluster.folder, 'orders.ndjson')
  await writeFile(file, orders.map((order) => `${JSON.stringify(order)}\n`).join(''))
  // An index of an earlier release, and one of another application.
  const mappings = { dynamic: 'strict', properties: {} }
  const aliases = { [`${PREFIX}api-keys`]: {} }
  await cluster.asAdmin('PUT', `${PREFIX}api-keys-v1`, { aliases, mappings })
  await cluster.asAdmin('PUT', 'other-orders-v1', { aliases: { 'other-orders': {} } })
}, FIRST_START_MS)
afterAll(() => cluster.stop())
afterEach(async () => {
  const calls = await cluster.calls(SERVICE_USER)
  expect(calls.filter(({ category }) => category !== 'GRANTED_PRIVILEGES')).toEqual([])
})

async function run(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(args, env)
  expect(code, `${args.join(' ')}: ${stderr}`).toBe(0)
  return stdout
}
const json = async (...args: readonly string[]) => JSON.parse(await run(...args, '--json'))

describe('the user of docker/stores.md', () => {
  it('may create, load, check and report the index', async () => {
    await run('index', 'init')
    // Without a node for its replica, a shard is refreshed in part, and the state decides.
    const replicas = { auto_expand_replicas: false, number_of_replicas: 1 }
    await cluster.asAdmin('PUT', `${PREFIX}orders-v1/_settings`, { index: replicas })
    expect(await json('index', 'load', '--live', file)).toMatchObject({ written: 3 })
    await run('index', 'load', '--repair', file)
    await run('index', 'check', file)
    await run('index', 'check')
    await run('index', 'status')
  })

  it('may rebuild the index, also with more shards, and return to the previous one', async () => {
    await run('index', 'reindex')
    await run('index', 'reindex', '--rollback')
    await run('index', 'reindex')
    await run('index', 'reindex', '--finish')
    await run('index', 'reindex', '--shards', '2')
    await run('index', 'reindex', '--finish')
    await run('index', 'check', file)
  })

  it('may write changes from the stream', async () => {
    const watch = startWatch(env)
    try {
      await watch.becomesWriter()
      const deletion = { id: 'ord_3', version: 2, owner_account_id: 'acc_1', deleted: true }
      const changes = [sourceOrder({ id: 'ord_4' }), deletion]
      const lines = changes.map((change) => `${JSON.stringify(change)}\n`).join('')
      const { code, stderr } = await runCommand(['index', 'load', '--stream', '-'], env, lines)
      expect(code, stderr).toBe(0)
      await expect.poll(() => watch.metric('indexing_changes_total{outcome="written"}')).toBe(2)
      await expect.poll(() => watch.operations('/health/ready')).toContain('"status":"ok"')
    } finally {
      expect(await watch.stop()).toBe(0)
    }
  })

  it('may manage keys, accounts, sandboxes and the audit log', async () => {
    const { key_id } = await json('keys', 'create', '--account', 'acc_1')
    const { key_id: successor } = await json('keys', 'roll', key_id, '--overlap', '1h')
    await run('keys', 'revoke', successor)
    await run('keys', 'list', '--account', 'acc_1')
    await run('accounts', 'block', 'acc_1')
    await run('accounts', 'unblock', 'acc_1')
    const { id } = await json('sandbox', 'create', '--account', 'acc_1', '--scenario', 'pix_paid')
    await run('sandbox', 'move', id, 'refund', '--account', 'acc_1')
    await run('sandbox', 'list', '--account', 'acc_1')
    expect(await json('audit', 'list')).toHaveLength(7)
  })

  it('may manage and deliver webhooks', async () => {
    const receiver = await startRecordingReceiver()
    const url = receiver.url()
    const { id } = await json('webhooks', 'create', '--account', 'acc_1', '--url', url)
    const dispatcher = startBackground(['webhooks', 'deliver'], env)
    try {
      await becomesDispatcher(dispatcher)
      await run('webhooks', 'test', id)
      await run('webhooks', 'list', '--account', 'acc_1')
      await run('webhooks', 'show', id)
      await run('webhooks', 'update', id, '--payload', 'thin')
      await run('webhooks', 'disable', id)
      await run('webhooks', 'enable', id)
      await run('webhooks', 'roll-secret', id)
      const [delivery] = await json('webhooks', 'deliveries', id)
      await run('webhooks', 'resend', delivery.id)
      await run('webhooks', 'replay', id, '--since', new Date(Date.now() - 1_000).toISOString())
      await run('webhooks', 'status')
      await run('webhooks', 'delete', id)
    } finally {
      expect(await dispatcher.stop()).toBe(0)
      await receiver.close()
    }
  })

  it('may serve the API, the management API and the console', async () => {
    const service = await startWholeService(env)
    try {
      const { key } = await json('keys', 'create', '--account', 'acc_1')
      await callService(service, key)
    } finally {
      expect(await service.stop()).toBe(0)
    }
    expect(await json('usage', '--account', 'acc_1')).not.toEqual([])
  })
})

describe('the role of docker/stores.md', () => {
  it('has no permission that the service does not use', async () => {
    const actions = (await cluster.calls(SERVICE_USER)).map(({ action }) => action)
    const permissions = [
      ...role.cluster_permissions,
      ...role.index_permissions.flatMap(({ allowed_actions }) => allowed_actions),
    ]
    // The plugin checks deletions of a bulk, but its log names the bulk alone.
    const used = [...actions, 'indices:data/write/delete']
    const isUsed = (permission: string) => used.some((action) => matchesAny([permission], action))
    expect(permissions.filter((permission) => !isUsed(permission))).toEqual([])
  })

  it('has no pattern without an index, and the service names no index outside them', async () => {
    const indices = (await cluster.calls(SERVICE_USER)).flatMap((call) => call.indices)
    const patterns = role.index_permissions.flatMap(({ index_patterns }) => index_patterns)
    expect(indices.filter((index) => !matchesAny(patterns, index))).toEqual([])
    const isUsed = (pattern: string) => indices.some((index) => matchesAny([pattern], index))
    expect(patterns.filter((pattern) => !isUsed(pattern))).toEqual([])
  })
})

describe('the snapshot user of docker/recovery.md', () => {
  async function send(method: 'GET' | 'PUT' | 'POST' | 'DELETE', path: string, body?: object) {
    const { status, text } = await cluster.send(SNAPSHOT_USER, method, path, body)
    expect(status, `${method} ${path}: ${text}`).toBe(200)
  }
  const backup = '_snapshot/backups/first'
  const restored = { indices: `${PREFIX}sandbox-orders-v1`, include_global_state: false }

  it('may take a snapshot and restore an index, and the service may use it', async () => {
    const repository = { type: 'fs', settings: { location: cluster.snapshots } }
    await send('PUT', '_snapshot/backups', repository)
    const indices = { indices: `${PREFIX}*`, include_global_state: false }
    await send('PUT', `${backup}?wait_for_completion=true`, indices)
    await send('GET', backup)
    await send('DELETE', restored.indices)
    await send('POST', `${backup}/_restore?wait_for_completion=true`, restored)
    expect(await json('sandbox', 'list', '--account', 'acc_1')).toHaveLength(2)
  })
})
