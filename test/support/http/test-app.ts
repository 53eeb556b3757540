import { buildApp } from '../../../src/app.ts'
import type { ServerLimits } from '../../../src/http/server/http-server.ts'
import type { Order } from '../../../src/orders/order.ts'
import { expectMatchesOpenApi } from '../../harness/traffic/openapi-check.ts'
import { openTestServices, silent } from '../stores/services.ts'

export interface Call {
  key?: string | undefined
  headers?: Record<string, string>
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'OPTIONS'
  /** The address of the client. */
  from?: string
  body?: string
}

export interface ErrorBody {
  error: { type: string; code: string; message: string; param?: string; request_id: string }
}

export interface ListBody {
  object: 'list'
  data: Order[]
  has_more: boolean
  next_cursor: string | null
}

export const ROOMY = { RATE_LIMIT_CAPACITY: '100000', RATE_LIMIT_REFILL_PER_SECOND: '100000' }

/**
 * The whole app on embedded services, without a port. Every response is validated against the
 * OpenAPI file.
 */
export async function createTestApp(
  env: Record<string, string> = ROOMY,
  limits: Partial<ServerLimits> = {},
) {
  const test = await openTestServices(env)
  const clock = { nowMs: Date.now() }
  const app = buildApp(test.config, test.services, {
    logger: silent,
    metrics: test.metrics,
    clock: () => clock.nowMs,
    limits,
  })
  await app.ready()

  async function call(url: string, { key, headers, method = 'GET', from, body }: Call = {}) {
    const response = await app.inject({
      url,
      method,
      headers: { ...(key && { authorization: `Bearer ${key}` }), ...headers },
      ...(from && { remoteAddress: from }),
      ...(body && { payload: body }),
    })
    const json = response.body === '' ? null : response.json()
    const isWhole = json !== null || response.statusCode === 304
    if (isWhole && url.startsWith('/v1') && method !== 'OPTIONS') {
      expectMatchesOpenApi({ url, status: response.statusCode, headers: response.headers, json })
    }
    return { status: response.statusCode, headers: response.headers, text: response.body, json }
  }

  return {
    ...test,
    app,
    /** The time of the app's clock in epoch milliseconds; a test changes it. */
    clock,
    call,

    async list(query: string, key: string): Promise<ListBody> {
      const { status, json, text } = await call(`/v1/orders?${query}`, { key })
      if (status !== 200) throw new Error(`GET /v1/orders?${query}: ${status} ${text}`)
      return json
    },

    async error(url: string, options: Call = {}) {
      const { status, json, headers } = await call(url, options)
      return { status, headers, ...(json as ErrorBody).error }
    },

    async close() {
      await app.close()
      await test.close()
    },
  }
}

export type TestApp = Awaited<ReturnType<typeof createTestApp>>
