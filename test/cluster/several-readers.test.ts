import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import {
  FIRST_START_MS,
  type RunningOpenSearch,
  startOpenSearch,
} from '../harness/services/opensearch/opensearch.ts'
import { type RunningRedis, startRedis } from '../harness/services/redis.ts'
import { sum } from '../harness/statistics.ts'
import { byEffort } from '../support/effort.ts'
import { startProxy } from '../support/http/proxy.ts'
import type { ListBody } from '../support/http/test-app.ts'
import { openTroubledStores } from '../support/simulation/failing-stores.ts'
import { createLiveReaders, liveAccounts } from '../support/simulation/live-readers.ts'
import { rowOfOrder } from '../support/simulation/rows.ts'
import { openServedStore } from '../support/stores/served-store.ts'

const WALKS = byEffort(120, 1_000)
/** Of any kind; `paging-beside-writers` waits for each kind. */
const FAILURES = byEffort(10, 40)
const SHARDS = 3
/** The edge waits as long as the processes behind it. */
const PATIENT_EDGE = { EDGE_VOLUME_REQUESTS: '1000000', EDGE_ANSWER_TIMEOUT: '60s' }

let cluster: RunningOpenSearch
let redis: RunningRedis
beforeAll(async () => {
  redis = await startRedis()
  cluster = await startOpenSearch({ nodes: 2, heapMb: 512 })
  vi.stubEnv('OPENSEARCH_URL', cluster.url)
  vi.stubEnv('REDIS_URL', redis.url)
}, FIRST_START_MS)
afterAll(async () => {
  vi.unstubAllEnvs()
  await cluster.stop()
  await redis.stop()
})

/** Each page of a listing may come from another process than the page before. */
it.each([2, 4])('listings from %d processes behind the edge skip no order', async (count) => {
  const { backend, stores, writers, close } = await openTroubledStores(SHARDS)
  const served = openServedStore({ env: backend.env, remove: close })
  onTestFinished(() => served.close())
  const processes = await Promise.all(Array.from({ length: count }, () => served.serve()))
  const edge = await startProxy(processes, PATIENT_EDGE)
  onTestFinished(() => edge.stop())
  const keys = new Map<string, string>()
  for (const account of liveAccounts) keys.set(account, await served.createKey(account))

  const readers = await createLiveReaders<string>({
    async readPage({ accountId, sort }, cursor, limit) {
      const query = new URLSearchParams({ sort, limit: `${limit}`, ...(cursor && { cursor }) })
      const headers = { authorization: `Bearer ${keys.get(accountId)}` }
      const { status, body } = await edge.call(`/v1/orders?${query}`, { headers })
      expect(status, body).toBe(200)
      const { data, next_cursor: next }: ListBody = JSON.parse(body)
      return { rows: data.map(rowOfOrder), next }
    },
    orders: stores.orders,
    writers,
    refresh: backend.refresh,
  })
  await readers.run(
    () => readers.walks() >= WALKS && sum(Object.values(writers.failures)) >= FAILURES,
  )
  console.info(`${readers.walks()} walks through ${count} processes`, writers.failures)

  await readers.settle()
  await writers.close()
  await backend.refresh()
  await readers.expectExact()
  for (const { operationsPort } of processes) {
    const metrics = await (await fetch(`http://127.0.0.1:${operationsPort}/metrics`)).text()
    expect(metrics).toMatch(/^http_request_duration_seconds_count\{.*200.*\} [1-9]/m)
  }
})
