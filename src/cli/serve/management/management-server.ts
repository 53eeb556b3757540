import { hash } from 'node:crypto'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Config } from '../../../config/config.ts'
import type { ManagementToken } from '../../../config/parsers.ts'
import { buildManagementApp } from '../../../http/management/management-app.ts'
import { drainAndClose } from '../../../http/server/graceful-shutdown.ts'
import { serverUrl } from '../../../http/server/listen.ts'
import { hmacSha256 } from '../../../lib/secrets/hmac.ts'
import type { Management } from '../../../management/management.ts'
import { createManagementMetrics } from '../../../observability/metrics/management.ts'
import type { Services } from '../../../services.ts'
import { listenOrContinue } from './listen-or-continue.ts'

export interface ManagementServerOptions {
  management: Management
  services: Pick<Services, 'keyPepper'>
  logger: Logger
  registry: Registry
  /** Serves it on loopback with a token of its own, also without the setting. */
  demo: boolean
  /** The origin of the console; `null` when there is none. */
  consoleUrl: string | null
}

/** The management API of a process that serves. */
export interface ManagementServer {
  /** For the welcome of a demo; `null` when it is off. */
  access: ManagementAccess | null
  /** Responds until requests stop, and waits for those in flight. */
  close(): Promise<void>
}

export interface ManagementAccess {
  url: string
  /** Only of a demo. */
  token: string | null
}

const DEMO_PORT = 3002

/**
 * Serves the management API on `MANAGEMENT_PORT`, in a demo on a default port.
 * @throws Error when MANAGEMENT_PORT is set and cannot be bound
 */
export async function startManagement(
  config: Config,
  { management, services, logger, registry, demo, consoleUrl }: ManagementServerOptions,
): Promise<ManagementServer> {
  if (config.managementPort === undefined && !demo) return OFF
  const metrics = createManagementMetrics(registry)
  const token = demo ? demoToken(services.keyPepper) : null
  const app = buildManagementApp(management, {
    tokens: [...config.managementTokens, ...(token === null ? [] : [adminToken(token)])],
    logger,
    metrics,
    consoleUrl,
  })
  const port = {
    host: config.host,
    port: config.managementPort,
    demoPort: DEMO_PORT,
    setting: 'MANAGEMENT_PORT',
    name: 'management',
    feature: 'the management API',
  }
  if (!(await listenOrContinue(app, port, logger))) return OFF
  return { access: { url: serverUrl(app), token }, close: () => drainAndClose(app) }
}

const OFF: ManagementServer = { access: null, close: async () => {} }

/** The same at every start, so that a reader of docker/indexing.md can repeat a call. */
function demoToken(keyPepper: Uint8Array): string {
  return `mgmt_${hmacSha256(keyPepper, 'demo management token').toString('base64url')}`
}

function adminToken(token: string): ManagementToken {
  return { name: 'demo', role: 'admin', digest: hash('sha256', token, 'buffer') }
}
