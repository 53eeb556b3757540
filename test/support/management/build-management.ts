import { hash } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { Registry } from 'prom-client'
import { webhookSettings } from '../../../src/cli/webhooks/with-webhooks.ts'
import type { Config } from '../../../src/config/config.ts'
import { buildManagementApp } from '../../../src/http/management/management-app.ts'
import type { ServerLimits } from '../../../src/http/server/http-server.ts'
import type { ChangeStream } from '../../../src/indexing/sources/change-stream.ts'
import { type Clock, wallClock } from '../../../src/lib/clock.ts'
import { createManagement } from '../../../src/management/management.ts'
import { createManagementMetrics } from '../../../src/observability/metrics/management.ts'
import type { Services } from '../../../src/services.ts'
import { silent } from '../stores/services.ts'

export const ADMIN = 'admin-token'
export const READER = 'read-token'
export const OTHER_ADMIN = 'other-admin-token'

const tokens = [
  { name: 'platform', role: 'admin', text: ADMIN },
  { name: 'support', role: 'read', text: READER },
  { name: 'jobs', role: 'admin', text: OTHER_ADMIN },
] as const

export interface BuildManagementOptions {
  logger?: FastifyBaseLogger
  clock?: Clock
  /** Orders go to this stream; into the index when absent. */
  stream?: ChangeStream | null
  consoleUrl?: string | null
  limits?: Partial<ServerLimits>
}

/** The domain of the management API and its app, with a token of each kind. */
export function buildManagement(
  services: Services,
  config: Pick<Config, 'webhooks'>,
  options: BuildManagementOptions = {},
) {
  const {
    logger = silent,
    clock = wallClock,
    stream = null,
    consoleUrl = null,
    limits = {},
  } = options
  const registry = new Registry()
  const metrics = createManagementMetrics(registry)
  const management = createManagement({
    ...services,
    webhookSettings: webhookSettings(services, config),
    stream,
    clock,
    monotonic: clock,
  })
  const api = buildManagementApp(management, {
    tokens: tokens.map(({ text, ...token }) => ({
      ...token,
      digest: hash('sha256', text, 'buffer'),
    })),
    logger,
    metrics,
    consoleUrl,
    limits,
  })
  api.addHook('onClose', management.close)
  return { management, api, metrics, registry }
}
