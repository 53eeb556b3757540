import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { parseConfig } from '../../src/config/config.ts'
import { createWriter } from '../../src/indexing/writer/writer.ts'
import { openServices } from '../../src/services.ts'
import type { OpenSearchNode } from '../harness/services/opensearch.ts'
import {
  type Behaviour,
  proxyTo,
  respondText,
  startServer,
} from '../integration/opensearch/scripted/scripted-server.ts'
import { changeOf } from '../support/orders/changes.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { type Backend, createBackend, opensearch } from '../support/stores/backend.ts'
import { type KillableCluster, startKillableCluster } from '../support/stores/killable-cluster.ts'

/** Maven may have to bring OpenSearch first. */
const START_MS = 900_000
const TEST_MS = 300_000
const DELETION = { id: 'ord_1', version: 2, owner_account_id: 'acc_1', deleted: true }

let cluster: KillableCluster
let backend: Backend
beforeAll(async () => {
  cluster = await startKillableCluster(3)
  vi.stubEnv('REDIS_URL', '')
  backend = createBackend()
}, START_MS)
afterAll(async () => {
  await backend.remove()
  await cluster.stop()
})

/** Passes everything on to the one node, and the first bulk after `divert` to the other. */
function router(node: OpenSearchNode) {
  let diverted: { to: OpenSearchNode; onAnswer: (answer: string) => void } | undefined
  const behaviour: Behaviour = async (response, request) => {
    const { method, path, body } = request
    if (diverted === undefined || !path.includes('orders-w-')) {
      proxyTo(node.url)(response, request)
      return
    }
    const { to, onAnswer } = diverted
    diverted = undefined
    const headers = { 'content-type': 'application/x-ndjson' }
    const answered = await fetch(new URL(path, to.url), { method, headers, body })
    const text = await answered.text()
    onAnswer(text)
    respondText(answered.status, text)(response, request) // The writer has given it up by then.
  }
  return {
    behaviour,
    divert: (to: OpenSearchNode) =>
      new Promise<string>((onAnswer) => {
        diverted = { to, onAnswer }
      }),
  }
}

it('an order that was erased stays erased when a node wakes up that had its first version in hand', {
  timeout: TEST_MS,
}, async () => {
  const orders = `${backend.env['INDEX_PREFIX']}orders-v1`
  const settings = { ...backend.env, BULK_DEADLINE_MS: '5000', WRITER_LEASE_MS: '10000' }
  const init = await openServices(parseConfig(backend.env))
  await init.initialize()
  await init.close()

  const primary = await cluster.nodeOfPrimary(orders)
  const sleeper = cluster.nodes.find((node) => node !== primary) ?? primary
  const { behaviour, divert } = router(primary)
  const front = await startServer([behaviour])
  const services = await openServices(parseConfig({ ...settings, OPENSEARCH_URL: front.url }))
  const index = await services.openIndex()
  const writer = createWriter(index, Date.now)
  onTestFinished(async () => {
    await index.close()
    await services.close()
    await front.close()
  })
  const late = divert(sleeper)

  await cluster.sleep(sleeper, async () => {
    expect(await writer.write([changeOf(sourceOrder({ id: 'ord_1' }))], 'live')).toEqual([
      'written',
    ])
    expect(await writer.write([changeOf(DELETION)], 'live')).toEqual(['written'])
    // As when the shard moves: the engine forgets the versions of what it deleted.
    await opensearch('POST', `${orders}/_close`)
    await opensearch('POST', `${orders}/_open`)
    await opensearch('GET', `_cluster/health/${orders}?wait_for_status=yellow&timeout=60s`)
  })
  expect(await late).not.toContain('"status":201')
  expect(await services.orders.get('acc_1', 'ord_1')).toBeNull()
})
