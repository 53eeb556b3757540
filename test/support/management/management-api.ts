import type { FastifyBaseLogger, InjectOptions } from 'fastify'
import { afterAll, beforeAll } from 'vitest'
import type { Config } from '../../../src/config/config.ts'
import type { ServerLimits } from '../../../src/http/server/http-server.ts'
import { serverUrl } from '../../../src/http/server/listen.ts'
import type { ChangeStream } from '../../../src/indexing/sources/change-stream.ts'
import type { ManagementStores } from '../../../src/management/management-stores.ts'
import { checkManagementResponse } from '../../harness/traffic/openapi-check.ts'
import { collectRoutes } from '../http/collect-routes.ts'
import { openTestServices, silent } from '../stores/services.ts'
import { ADMIN, buildManagement } from './build-management.ts'

const MAX_PAGES = 100

export interface ManagementCall {
  /** The bearer token; none for `null`. */
  token?: string | null
  headers?: Record<string, string>
  /** Sent as JSON; a text is sent as it is. */
  body?: object | string
}

export interface ManagementApiOptions {
  env?: Record<string, string>
  logger?: FastifyBaseLogger
  limits?: Partial<ServerLimits>
  /** Orders go to this stream; into the index when absent. */
  openStream?(config: Config): Promise<ChangeStream>
  /** Replaces stores, such as by failing ones. */
  stores?(stores: ManagementStores): ManagementStores
}

/**
 * The management API on isolated stores, without a port. Every response is validated against the
 * OpenAPI file.
 */
export async function openManagementApi(options: ManagementApiOptions = {}) {
  const { env, logger = silent, limits = {}, stores = (own) => own, openStream } = options
  const test = await openTestServices(env)
  const clock = { nowMs: Date.now() }
  const {
    management,
    api: app,
    registry,
  } = buildManagement(
    { ...test.services, managementStores: stores(test.services.managementStores) },
    test.config,
    {
      logger,
      limits,
      clock: () => clock.nowMs,
      consoleUrl: 'https://painel.example',
      stream: (await openStream?.(test.config)) ?? null,
    },
  )
  const routes = collectRoutes(app)
  await app.ready()

  async function call(
    method: NonNullable<InjectOptions['method']>,
    path: string,
    { token = ADMIN, headers, body }: ManagementCall = {},
  ) {
    const response = await app.inject({
      method,
      url: `/v1${path}`,
      headers: { ...(token !== null && { authorization: `Bearer ${token}` }), ...headers },
      ...(body !== undefined && { payload: body }),
    })
    const { statusCode: status, body: text } = response
    const json = text === '' ? null : response.json()
    checkManagementResponse({ method, url: `/v1${path}`, status, headers: response.headers, json })
    return { status, headers: response.headers, text, json }
  }

  /** Posts with an `Idempotency-Key`. */
  const postOnce = (path: string, key: string, body?: object, token = ADMIN) =>
    call('POST', path, {
      token,
      headers: { 'idempotency-key': key },
      ...(body !== undefined && { body }),
    })

  /** All items of a list, by pages of `limit`. */
  async function walk(path: string, limit: number): Promise<{ id: string }[][]> {
    const pages: { id: string }[][] = []
    const [route, query = ''] = path.split('?')
    for (let cursor: string | null = ''; cursor !== null; ) {
      const params = new URLSearchParams(query)
      params.set('limit', String(limit))
      if (cursor !== '') params.set('cursor', cursor)
      const { status, text, json } = await call('GET', `${route}?${params}`)
      if (status !== 200) throw new Error(`GET ${path}: ${status} ${text}`)
      pages.push(json.data)
      cursor = json.has_more ? json.next_cursor : null
      if (pages.length > MAX_PAGES) throw new Error(`GET ${path}: the pages do not end`)
    }
    return pages
  }

  return {
    ...test,
    app,
    /** The registered routes, such as `GET /v1/audit`. */
    routes,
    management,
    registry,
    /** The time of the domain in epoch milliseconds; a test changes it. */
    clock,
    call,
    postOnce,
    walk,
    get: (path: string, options?: ManagementCall) => call('GET', path, options),
    post: (path: string, body?: object, options: ManagementCall = {}) =>
      call('POST', path, { ...(body !== undefined && { body }), ...options }),

    /** Listens on a port of the loopback interface, once. */
    async listen(): Promise<number> {
      if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 })
      return Number(new URL(serverUrl(app)).port)
    },

    /** The entries of the audit log, oldest first. */
    async audited(accountId = 'acc_1') {
      const entries = await management.audit.list({ accountId, limit: 100, after: null })
      return entries
        .map(({ actor, action, target, outcome }) => ({ actor, action, target, outcome }))
        .toReversed()
    },

    async close() {
      await app.close()
      await test.close()
    },
  }
}

export type ManagementApi = Awaited<ReturnType<typeof openManagementApi>>

/** Registers hooks that open one for the file, and close it. */
export function useManagementApi(options?: ManagementApiOptions): { readonly api: ManagementApi } {
  let api: ManagementApi
  beforeAll(async () => {
    api = await openManagementApi(options)
  })
  afterAll(() => api.close())
  return {
    get api() {
      return api
    },
  }
}
