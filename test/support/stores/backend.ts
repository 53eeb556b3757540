import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Whether this tier runs on OpenSearch and Redis, as set by `vitest.config.ts`. */
export const onServices = process.env['BACKEND'] === 'services'

/** Isolated stores of one test, by the settings that lead to them. */
export interface Backend {
  folder: string
  env: Record<string, string>
  /** Makes all writes visible to searches without the wait for the periodic refresh. */
  refresh(): Promise<void>
  remove(): Promise<void>
}

/** A slow response on a busy machine is no failure. */
export const LONG_DEADLINES = { REQUEST_DEADLINE_MS: '60000', SEARCH_DEADLINE_MS: '60000' }
/** For a test with an OpenSearch that stops responding: its requests wait until the deadline. */
export const SHORT_DEADLINES = { REQUEST_DEADLINE_MS: '2500', SEARCH_DEADLINE_MS: '2000' }

/** Long, because no request for a lease may last longer than the lease. */
export const LEASE_MS = 5_000
/** For a process that must hold its lease until a test kills or freezes it, and lets it expire. */
export const EXPIRING_LEASE_MS = 2_000
export const EXPIRING_LEASE = { WRITER_LEASE_MS: `${EXPIRING_LEASE_MS}` }
/** For a process that is killed repeatedly: its successor waits until the lease expires. */
export const KILL_LOOP_LEASE = { WRITER_LEASE_MS: '1000' }

/** The tests of a run share the queue of the cluster's changes, where 30 s may be too short. */
const PATIENTLY = 'cluster_manager_timeout=180s'

const secret = () => randomBytes(32).toString('base64')

/** An empty folder; `remove` deletes it with its content. */
export function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'orders-'))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** An empty and exclusive location: a folder, or a prefix on the running services. */
export function createBackend(): Backend {
  const { folder, remove } = temporaryFolder()
  if (!onServices) {
    return {
      folder,
      env: { DATA_DIR: folder, ...LONG_DEADLINES },
      refresh: async () => {},
      remove: async () => remove(),
    }
  }
  const prefix = `test-${randomBytes(6).toString('hex')}-`
  const env = {
    DATA_DIR: folder,
    ...LONG_DEADLINES,
    OPENSEARCH_URL: process.env['OPENSEARCH_URL'] ?? '',
    REDIS_URL: process.env['REDIS_URL'] ?? '',
    INDEX_PREFIX: prefix,
    REDIS_PREFIX: prefix,
    CURSOR_SECRETS: `k1:${secret()}`,
    KEY_PEPPER: secret(),
    WEBHOOK_SECRETS: `k1:${secret()}`,
    WRITER_LEASE_MS: `${LEASE_MS}`,
  }
  return {
    folder,
    env,
    refresh: () => opensearch('POST', `${prefix}*/_refresh`),
    async remove() {
      remove()
      await Promise.all([
        opensearch('DELETE', `${prefix}*?${PATIENTLY}&timeout=180s`),
        deleteIfFound(`_index_template/${prefix}orders?${PATIENTLY}`),
      ])
    },
  }
}

/** Sends a request directly to the cluster. */
export async function opensearch<T = unknown>(
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  const response = await send(method, path, body)
  const answer = await response.json()
  if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
  return answer as T
}

async function deleteIfFound(path: string): Promise<void> {
  const response = await send('DELETE', path)
  const answer = await response.text()
  if (!response.ok && response.status !== 404) throw new Error(`DELETE ${path}: ${answer}`)
}

/** The address of the first node. */
export const firstNode = () => process.env['OPENSEARCH_URL']?.split(',')[0] ?? ''

function send(method: string, path: string, body?: object): Promise<Response> {
  const { origin, username, password } = new URL(firstNode())
  const credentials = [username, password].map(decodeURIComponent).join(':')
  return fetch(`${origin}/${path}`, {
    method,
    headers: {
      ...(username && { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
}
