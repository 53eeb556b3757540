import { hash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Config } from '../../config/config.ts'
import type { ManagementToken } from '../../config/parsers.ts'
import { buildManagementApp } from '../../http/management/management-app.ts'
import { listen, serverUrl } from '../../http/server/listen.ts'
import { hmacSha256 } from '../../lib/hmac.ts'
import type { Management } from '../../management/management.ts'
import { createManagementMetrics } from '../../observability/metrics/management.ts'
import type { Services } from '../../services.ts'

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
  /** Waits for the requests in flight. */
  close(): Promise<void>
}

export interface ManagementAccess {
  url: string
  /** Only of a demo. */
  token: string | null
}

const LOOPBACK = '127.0.0.1'
const DEMO_PORT = 3002

/**
 * Serves the management API on `MANAGEMENT_PORT`. Only a configured port is required: another demo
 * can already use the default one.
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
  const isListening = await listenManagement(app, config, logger)
  if (!isListening) return OFF
  return { access: { url: serverUrl(app), token }, close: () => app.close() }
}

const OFF: ManagementServer = { access: null, close: async () => {} }

async function listenManagement(
  app: FastifyInstance,
  { host, managementPort }: Pick<Config, 'host' | 'managementPort'>,
  logger: Logger,
): Promise<boolean> {
  try {
    const address = managementPort === undefined ? LOOPBACK : host
    const port = managementPort ?? DEMO_PORT
    await listen(app, address, port, 'MANAGEMENT_PORT', 'management')
    return true
  } catch (error) {
    await app.close()
    if (managementPort !== undefined) throw error
    logger.warn({ err: error }, 'continuing without the management API')
    return false
  }
}

/** The same at every start, so that a reader of docker/indexing.md can repeat a call. */
function demoToken(keyPepper: Uint8Array): string {
  return `mgmt_${hmacSha256(keyPepper, 'demo management token').toString('base64url')}`
}

function adminToken(token: string): ManagementToken {
  return { name: 'demo', role: 'admin', digest: hash('sha256', token, 'buffer') }
}
