import type { FastifyBaseLogger } from 'fastify'
import { writeTimestampsAheadMs } from '../../indexing/consistency-check/index-inspection.ts'
import type { ChangeStream } from '../../indexing/sources/change-stream.ts'
import { MAX_CLOCK_SKEW_MS } from '../../indexing/writer/clock-skew.ts'
import type { ServerServices } from '../../services.ts'
import type { Stores } from '../../stores/stores.ts'

/** The result of one check; `degraded` is a warning and does not affect the status. */
export type CheckState = 'ok' | 'unavailable' | 'degraded'

/** The health response. It contains no address and no reason; the log has both. */
export interface Health {
  /** `draining`: the process still answers and is shutting down. */
  status: 'ok' | 'unavailable' | 'draining'
  checks: Record<string, CheckState>
}

/** Checks every dependency, for orchestrators and load balancers. */
export type Readiness = () => Promise<Health>

// No record has this id; the lookup itself is the probe.
const PROBE_ID = 'health-probe'

/** Checks what a request needs. Rate limits can degrade without making the service unavailable. */
export function createReadiness(
  {
    keys,
    orders,
    isLimiterDegraded,
  }: Pick<ServerServices, 'keys' | 'orders' | 'isLimiterDegraded'>,
  logger: FastifyBaseLogger,
): Readiness {
  const check = createReadinessCheck(
    { orders: () => orders.latestWrite(PROBE_ID), keys: () => keys.ping() },
    'the API answers 503',
    logger,
  )
  return async () => {
    const [{ status, checks }, isDegraded] = await Promise.all([check(), isLimiterDegraded()])
    return { status, checks: { ...checks, limits: isDegraded ? 'degraded' : 'ok' } }
  }
}

/** Checks what a watch needs: the order store, its write timestamps, and the change stream. */
export function createWatchReadiness(
  { orders, inspection }: Pick<Stores, 'orders' | 'inspection'>,
  stream: Pick<ChangeStream, 'ping'>,
  logger: FastifyBaseLogger,
): Readiness {
  return createReadinessCheck(
    {
      orders: () => orders.latestWrite(PROBE_ID),
      stamps: () => checkWriteTimestamps(inspection),
      stream: () => stream.ping(),
    },
    'changes are delayed',
    logger,
  )
}

/** Timestamps further ahead hide changes from `updated_lt=<now>` and stop writers on OpenSearch. */
async function checkWriteTimestamps(
  inspection: Pick<Stores['inspection'], 'writeTimestamps'>,
): Promise<void> {
  const aheadMs = writeTimestampsAheadMs(await inspection.writeTimestamps())
  if (aheadMs <= MAX_CLOCK_SKEW_MS) return
  throw new Error(`write timestamps are ${Math.round(aheadMs / 1000)} s ahead of the clock`)
}

/** Logs each change of readiness, with its reasons and its consequence. */
function createReadinessCheck(
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
    return error instanceof Error ? error.message : String(error)
  }
}
