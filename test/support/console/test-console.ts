import type { FastifyBaseLogger } from 'fastify'
import { buildConsoleApp } from '../../../src/http/console/console-app.ts'
import { SESSION_COOKIE } from '../../../src/http/console/session-cookie.ts'
import { serverUrl } from '../../../src/http/server/listen.ts'
import { capabilities } from '../../../src/management/sessions/session-store.ts'
import { collectRoutes } from '../http/collect-routes.ts'
import { ADMIN, buildManagement } from '../management/build-management.ts'
import { openTestServices, silent } from '../stores/services.ts'

export const ORIGIN = 'https://painel.example'
export const TOKEN = ADMIN

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE' | 'PATCH'

export interface ConsoleCall {
  method?: Method
  /** The secret of a session. */
  session?: string
  body?: unknown
  headers?: Record<string, string>
}

/** The grant of a link; a whole session of `acc_1` by default. */
export interface LinkOptions {
  accountId?: string
  subject?: string
  capabilities?: readonly string[]
  ttlSeconds?: number
}

/** The console and the management API on one set of services, without ports. */
export async function createTestConsole({
  consoleUrl = ORIGIN as string | null,
  logger = silent as FastifyBaseLogger,
} = {}) {
  const test = await openTestServices()
  const clock = { nowMs: Date.now() }
  const { management, api } = buildManagement(test.services, test.config, {
    clock: () => clock.nowMs,
    consoleUrl,
  })
  const app = buildConsoleApp({
    management,
    orders: test.services.orders,
    orderCursors: test.services.cursors,
    logger,
    origin: () => ORIGIN,
  })
  const routes = collectRoutes(app)
  await Promise.all([app.ready(), api.ready()])

  /** A call of the page: a change carries its origin. */
  async function call(url: string, { method = 'GET', session, body, headers }: ConsoleCall = {}) {
    const {
      statusCode,
      headers: received,
      body: text,
    } = await app.inject({
      url,
      method,
      headers: {
        ...(method !== 'GET' && { origin: ORIGIN }),
        ...(session && { cookie: `${SESSION_COOKIE}=${session}` }),
        ...headers,
      },
      ...(body !== undefined && { payload: body as object }),
    })
    const isJson = String(received['content-type']).startsWith('application/json')
    return {
      status: statusCode,
      headers: received,
      text,
      json: isJson ? JSON.parse(text) : null,
      /** The session that the response starts. */
      session: /console_session=([\w-]{43});/.exec(String(received['set-cookie']))?.[1],
    }
  }

  /** Calls the management API as the platform does. */
  async function platform(method: Method, url: string, body?: object) {
    const { statusCode, body: text } = await api.inject({
      url,
      method,
      headers: { authorization: `Bearer ${TOKEN}` },
      ...(body && { payload: body }),
    })
    return { status: statusCode, json: JSON.parse(text) }
  }

  async function createLink(options: LinkOptions = {}): Promise<string> {
    const { accountId = 'acc_1', subject = 'ana', ttlSeconds = 3_600 } = options
    const body = {
      subject,
      capabilities: options.capabilities ?? capabilities,
      ttl_seconds: ttlSeconds,
    }
    const { status, json } = await platform('POST', `/v1/accounts/${accountId}/sessions`, body)
    if (status !== 201) throw new Error(`no link: ${status} ${JSON.stringify(json)}`)
    return new URL(json.url).hash.slice(1)
  }

  const exchange = (token: string) => call('/v1/session', { method: 'POST', body: { token } })

  return {
    ...test,
    management,
    /** The registered routes, such as `GET /v1/session`. */
    routes,
    /** The time of both apps in epoch milliseconds; a test changes it. */
    clock,
    call,
    platform,
    createLink,
    exchange,

    /** Starts a session and returns its secret. */
    async signIn(options?: LinkOptions): Promise<string> {
      const { status, session } = await exchange(await createLink(options))
      if (session === undefined) throw new Error(`no session: ${status}`)
      return session
    },

    /** Listens on a port of the loopback interface. */
    async listen(): Promise<number> {
      await app.listen({ host: '127.0.0.1', port: 0 })
      return Number(new URL(serverUrl(app)).port)
    },

    async close() {
      await Promise.all([app.close(), api.close()])
      await test.close()
    },
  }
}

export type TestConsole = Awaited<ReturnType<typeof createTestConsole>>
