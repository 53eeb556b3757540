import type { FastifyBaseLogger } from 'fastify'
import type { KeyStore } from '../../auth/key-store.ts'
import { errorText } from '../../lib/errors/error-text.ts'
import type { OrderStore } from '../../orders/order-store.ts'
import type { DeliveryStore } from '../../webhooks/deliveries/delivery-store.ts'
import type { EndpointStore } from '../../webhooks/endpoints/endpoint-store.ts'

/** The result of one check; `degraded` is a warning and does not affect the status. */
export type CheckState = 'ok' | 'unavailable' | 'degraded'

/** The health response. It contains no address and no reason; the log has both. */
export interface Health {
  /** `draining`: the process still responds and is shutting down. */
  status: 'ok' | 'unavailable' | 'draining'
  checks: Record<string, CheckState>
}

/** Checks every dependency, for orchestrators and load balancers. */
export type Readiness = () => Promise<Health>

/** What a request needs for its response. */
export interface RequestDependencies {
  keys: Pick<KeyStore, 'ping'>
  orders: Pick<OrderStore, 'latestWrite'>
  isLimiterDegraded(): Promise<boolean>
}

interface ProbedWebhooks {
  endpoints: Pick<EndpointStore, 'counts'>
  deliveries: Pick<DeliveryStore, 'byId'>
}

/** Checks what a request needs. Rate limits can degrade without making the service unavailable. */
export function createReadiness(
  { keys, orders, isLimiterDegraded }: RequestDependencies,
  logger: FastifyBaseLogger,
): Readiness {
  const check = createReadinessCheck(
    { orders: () => probeOrders(orders), keys: () => keys.ping() },
    'the API responds 503',
    logger,
  )
  return async () => {
    const [{ status, checks }, isDegraded] = await Promise.all([check(), isLimiterDegraded()])
    return { status, checks: { ...checks, limits: isDegraded ? 'degraded' : 'ok' } }
  }
}

// No record has this id; the lookup itself is the probe.
const PROBE_ID = 'health-probe'

/** Reads the order store. @throws Unavailable when it does not respond */
export async function probeOrders(orders: Pick<OrderStore, 'latestWrite'>): Promise<void> {
  await orders.latestWrite(PROBE_ID)
}

/** Reads the stores of webhooks: each may be lost alone. @throws Unavailable */
export async function probeWebhooks({ endpoints, deliveries }: ProbedWebhooks): Promise<void> {
  await Promise.all([endpoints.counts(), deliveries.byId(PROBE_ID)])
}

/**
 * Runs the checks of a process. Logs each change of readiness, with its reasons and consequence.
 */
export function createReadinessCheck(
  dependencyChecks: Record<string, () => Promise<unknown>>,
  consequence: string,
  logger: FastifyBaseLogger,
): Readiness {
  let wasReady = true

  return async () => {
    const results = await Promise.all(
      Object.entries(dependencyChecks).map(async ([name, check]) => ({
        name,
        reason: await failureReason(check),
      })),
    )
    const failed = results.filter(({ reason }) => reason !== undefined)
    const isReady = failed.length === 0
    if (isReady && !wasReady) logger.info('ready again')
    if (!isReady && wasReady) {
      const reasons = Object.fromEntries(failed.map(({ name, reason }) => [name, reason]))
      logger.warn({ reasons }, `not ready: ${consequence}`)
    }
    wasReady = isReady
    const states = results.map(({ name, reason }) => [
      name,
      reason === undefined ? 'ok' : 'unavailable',
    ])
    return { status: isReady ? 'ok' : 'unavailable', checks: Object.fromEntries(states) }
  }
}

async function failureReason(check: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await check()
    return undefined
  } catch (error) {
    return errorText(error)
  }
}
