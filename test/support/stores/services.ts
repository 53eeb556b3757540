import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pino } from 'pino'
import type { KeyGrant } from '../../../src/auth/issue-key.ts'
import { issueKey } from '../../../src/auth/issue-key.ts'
import { parseConfig } from '../../../src/config/config.ts'
import { type LoadSummary, load } from '../../../src/indexing/sources/load.ts'
import type { WriteMode } from '../../../src/indexing/writer/order-index.ts'
import { createWriter } from '../../../src/indexing/writer/writer.ts'
import { wallClock } from '../../../src/lib/clock.ts'
import { instrumentServices } from '../../../src/observability/metrics/instrument-services.ts'
import { createMetrics } from '../../../src/observability/metrics/registry.ts'
import { openServerServices } from '../../../src/services.ts'
import { createBackend, onServices, opensearch } from './backend.ts'

export const silent = pino({ level: 'silent' })

/** A slow Redis on a busy machine is no outage, so a decision has a long deadline. */
const DECISION_DEADLINE_MS = 5_000
const limiterOptions = {
  deadlineMs: DECISION_DEADLINE_MS,
  onDegraded() {},
  onRecovered() {},
}

/** Services with isolated stores, and operations for tests. */
export async function openTestServices(env: Record<string, string> = {}) {
  const backend = createBackend()
  const config = parseConfig({ ...backend.env, ...env })
  const metrics = createMetrics()
  const services = await openServerServices(config, {
    ...instrumentServices(metrics),
    ...limiterOptions,
  })
  await services.initialize()

  return {
    config,
    services,
    /** The metrics of the services. */
    metrics,
    /** The settings, for a process that shares the stores. */
    env: backend.env,
    refresh: backend.refresh,

    /** Writes source orders; a rejected one fails the test unless `rejected` collects it. */
    async load(
      orders: readonly object[],
      { mode = 'history', rejected }: { mode?: WriteMode; rejected?: string[] } = {},
    ): Promise<LoadSummary> {
      const index = await services.openIndex()
      const summary = await load(ndjson(orders), {
        writer: createWriter(index, wallClock),
        mode,
        onRejected(line, { path, reason }) {
          if (!rejected) throw new Error(`line ${line}: ${path}: ${reason}`)
          rejected.push(`${line} ${path} ${reason}`)
        },
        onProgress() {},
      }).finally(() => index.close())
      await backend.refresh()
      return summary
    },

    async issue(grant: Partial<KeyGrant> = {}, now = Date.now()) {
      const whole = {
        accountId: 'acc_1',
        scopes: ['orders:read'] as const,
        name: null,
        expiresAt: null,
      }
      return issueKey(services, { ...whole, ...grant }, now)
    },

    /**
     * Makes every read of orders fail while the store responds; returns the error text expected in
     * the log.
     */
    async breakOrders(): Promise<string> {
      if (onServices) {
        // Smaller than a page.
        const settings = { index: { max_result_window: 1 } }
        await opensearch('PUT', `${config.indexPrefix}orders/_settings`, settings)
        return 'all shards failed'
      }
      using db = new DatabaseSync(join(backend.folder, 'orders.db'))
      db.exec('DROP TABLE orders')
      return 'no such table: orders'
    },

    async close() {
      await services.close()
      await backend.remove()
    },
  }
}

export async function* ndjson(values: Iterable<object>): AsyncGenerator<Buffer> {
  for (const value of values) yield Buffer.from(`${JSON.stringify(value)}\n`)
}
