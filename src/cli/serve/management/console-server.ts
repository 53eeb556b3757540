import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Config } from '../../../config/config.ts'
import { DEMO_ACCOUNT } from '../../../demo/accounts.ts'
import { buildConsoleApp } from '../../../http/console/console-app.ts'
import { consoleLink } from '../../../http/console/console-link.ts'
import { drainAndClose } from '../../../http/server/graceful-shutdown.ts'
import { MINUTE_MS } from '../../../lib/durations.ts'
import { CLI_ACTOR } from '../../../management/audit/audit-entry.ts'
import type { Management } from '../../../management/management.ts'
import { ManagementError } from '../../../management/management-error.ts'
import { capabilities } from '../../../management/sessions/session-store.ts'
import { createCursorCodec } from '../../../orders/cursor.ts'
import type { Services } from '../../../services.ts'
import { LOOPBACK, listenOrContinue } from './listen-or-continue.ts'

export interface ConsoleServerOptions {
  management: Management
  services: Pick<Services, 'orders' | 'cursorSecrets'>
  logger: Logger
  /** Serves it on loopback, also without the setting, and issues a link for the demo account. */
  demo: boolean
}

/** The console of a process that serves. */
export interface ConsoleServer {
  /** The origin of the links; `null` when it is off. */
  url: string | null
  /** Starts one session of the demo account; `null` without a demo, or when it is blocked. */
  demoLink: string | null
  /** Responds until requests stop, and waits for those in flight. */
  close(): Promise<void>
}

const DEMO_PORT = 3003
/** The reader of the welcome may open the link later than a user who follows a link. */
const DEMO_LINK_MS = 15 * MINUTE_MS
const DEMO_SESSION_S = 12 * 3_600

/**
 * Serves the console on `CONSOLE_PORT`, in a demo on a default port.
 * @throws Error when CONSOLE_PORT is set and cannot be bound
 */
export async function startConsole(
  config: Config,
  { management, services, logger, demo }: ConsoleServerOptions,
): Promise<ConsoleServer> {
  if (config.consolePort === undefined && !demo) return OFF
  const origin = () => config.consoleUrl ?? localOrigin(app)
  const app = buildConsoleApp({
    management,
    orders: services.orders,
    orderCursors: createCursorCodec(services.cursorSecrets),
    logger,
    origin,
  })
  const port = {
    host: config.host,
    port: config.consolePort,
    demoPort: DEMO_PORT,
    setting: 'CONSOLE_PORT',
    name: 'console',
    feature: 'the console',
  }
  if (!(await listenOrContinue(app, port, logger))) return OFF
  const url = origin()
  if (!acceptsSecureCookie(url)) logger.warn({ origin: url }, INSECURE_ORIGIN)
  const close = () => drainAndClose(app)
  try {
    const demoLink = demo ? await createDemoLink(management, url) : null
    return { url, demoLink, close }
  } catch (error) {
    await close() // An open listener would keep the process alive.
    throw error
  }
}

const OFF: ConsoleServer = { url: null, demoLink: null, close: async () => {} }

const INSECURE_ORIGIN =
  'browsers refuse the cookie of the console over http from other machines, so its links start no session: set CONSOLE_URL to an https origin'

/** The hosts of this machine, as `URL` prints them. */
const LOCAL_HOST = /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/

/** Whether browsers accept a `Secure` cookie from this origin. */
function acceptsSecureCookie(origin: string): boolean {
  const { protocol, hostname } = new URL(origin)
  return protocol === 'https:' || LOCAL_HOST.test(hostname)
}

/** A browser accepts the session's cookie over http on the loopback address. */
function localOrigin(app: FastifyInstance): string {
  const { port } = app.server.address() as AddressInfo
  return `http://${LOOPBACK}:${port}`
}

async function createDemoLink({ sessions }: Management, url: string): Promise<string | null> {
  const grant = { accountId: DEMO_ACCOUNT, subject: 'demo', capabilities }
  const request = { ...grant, ttlSeconds: DEMO_SESSION_S }
  try {
    const { secret } = await sessions.createLink(CLI_ACTOR, request, DEMO_LINK_MS)
    return consoleLink(url, secret)
  } catch (error) {
    // The service starts all the same, so that the account can be unblocked.
    if (error instanceof ManagementError && error.code === 'account_blocked') return null
    throw error
  }
}
