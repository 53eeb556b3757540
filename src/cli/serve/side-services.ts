import type { Config } from '../../config/config.ts'
import type { DemoKeys } from '../../demo/seed-demo.ts'
import type { CheckState } from '../../http/operations/readiness.ts'
import { parseNetworks } from '../../webhooks/sending/egress/address-policy.ts'
import {
  type EmbeddedDispatcher,
  type EmbeddedDispatcherOptions,
  startEmbeddedDispatcher,
} from '../webhooks/embedded-dispatcher.ts'
import { demoWelcome } from './demo-welcome.ts'
import {
  type ManagementServers,
  type ManagementServersOptions,
  startManagementServers,
} from './management/management-servers.ts'

export type SideServicesOptions = EmbeddedDispatcherOptions & ManagementServersOptions

/**
 * What `serve` runs once beside the API: the dispatcher of webhooks, the management API and the
 * console.
 */
export interface SideServices {
  /** @throws Error naming the setting of a port that cannot be bound */
  start(): Promise<void>
  /** Their part of the health response. */
  checks(): Record<string, CheckState>
  /** The text of a demo whose API is at `baseUrl`, after the start. */
  welcome(baseUrl: string, keys: DemoKeys, nowMs: number): string
  /** Finishes the work in flight. Idempotent, and without an effect before the start. */
  stop(): Promise<void>
}

/** Creates the side services of a process, and starts none. */
export function createSideServices(given: Config, options: SideServicesOptions): SideServices {
  const isDispatcher = given.opensearchUrls === undefined
  const config = options.demo && isDispatcher ? withLoopback(given) : given
  let dispatcher: EmbeddedDispatcher | undefined
  let servers: ManagementServers | undefined

  return {
    async start() {
      dispatcher = startEmbeddedDispatcher(config, options)
      servers = await startManagementServers(config, options)
    },
    checks: () => dispatcher?.checks() ?? {},
    welcome(baseUrl, keys, nowMs) {
      const logsRequests = options.logger.isLevelEnabled('info')
      const { access = null, consoleLink = null } = servers ?? {}
      const service = { baseUrl, keys, isDispatcher, access, consoleLink, logsRequests }
      return demoWelcome(service, nowMs)
    },
    async stop() {
      await Promise.all([dispatcher?.stop(), servers?.close()])
    },
  }
}

/** A demo registers receivers on the same machine, and delivers to them. */
function withLoopback(config: Config): Config {
  if (config.webhooks.allow.length > 0) return config
  const { networks: allow } = parseNetworks('127.0.0.0/8,::1')
  return { ...config, webhooks: { ...config.webhooks, allow } }
}
