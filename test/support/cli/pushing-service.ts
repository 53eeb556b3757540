import { hash } from 'node:crypto'
import type { SourceOrderResults } from '../../../src/management/ingestion/ingestion.ts'
import { checkManagementResponse } from '../../harness/traffic/openapi-check.ts'
import { toNdjson } from '../http/pushing.ts'
import { type BackgroundProcess, startBackground } from './background-process.ts'

const TOKEN = 'token_of_the_tests'
const digest = hash('sha256', TOKEN)

/** `serve` with the management API, in a separate process that a test may kill. */
export interface PushingService extends BackgroundProcess {
  /** Pushes source orders. Throws when the process ends first, or responds with an error. */
  push(orders: readonly object[]): Promise<SourceOrderResults>
  /** Sends a request without a body to the management API, and returns the status. */
  manage(method: string, url: string, headers?: Record<string, string>): Promise<number>
}

/** Starts `serve` on free ports. */
export function startPushingService(env: Record<string, string>): PushingService {
  const ports = { PORT: '0', MANAGEMENT_PORT: '0', MANAGEMENT_TOKENS: `tests:admin:${digest}` }
  const service = startBackground(['serve'], { ...ports, ...env })
  async function urlOf(path: string): Promise<URL> {
    const { msg } = await service.waitForLog('management at')
    return new URL(path, msg.split(' ').at(-1))
  }
  return {
    ...service,
    async manage(method, url, given) {
      const headers = { authorization: `Bearer ${TOKEN}`, ...given }
      return (await fetch(await urlOf(url), { method, headers })).status
    },
    async push(orders) {
      const route = { method: 'POST', url: '/v1/source-orders' }
      const response = await fetch(await urlOf(route.url), {
        method: route.method,
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/x-ndjson' },
        body: toNdjson(orders),
      })
      const json = await response.json()
      const headers = Object.fromEntries(response.headers)
      checkManagementResponse({ ...route, status: response.status, headers, json })
      if (!response.ok) throw new Error(JSON.stringify(json))
      return json as SourceOrderResults
    },
  }
}
