import type { FastifyBaseLogger } from 'fastify'
import { writeTimestampsAheadMs } from '../../indexing/consistency-check/index-inspection.ts'
import type { ChangeStream } from '../../indexing/sources/change-stream.ts'
import { MAX_CLOCK_SKEW_MS } from '../../indexing/writer/clock-skew.ts'
import type { ServerServices } from '../../services.ts'
import type { Stores } from '../../stores/stores.ts'

/** What is told of a check: `degraded` is a warning, and makes nothing unavailable. */
export type CheckState = 'ok' | 'unavailable' | 'degraded'

/** How the service is; never where anything is, or why it is not there: that is in the log. */
export interface Health {
  /** `draining`: it answers, and is about to stop. */
  status: 'ok' | 'unavailable' | 'draining'
  checks: Record<string, CheckState>
}

/** Looks whether all that is needed answers, for machines that ask. */
export type Readiness = () => Promise<Health>

// Nothing is kept under it: looking for it is the whole question.
const PROBE_ID = 'health-probe'

/** Looks at what a request needs: every store; without shared limits it goes on. */
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

/** Looks at what a watch needs: where it writes, what it may stamp, and where the changes come from. */
export function createWatchReadiness(
  { orders, inspection }: Pick<Stores, 'orders' | 'inspection'>,
  stream: Pick<ChangeStream, 'ping'>,
  logger: FastifyBaseLogger,
): Readiness {
  return createReadinessCheck(
    {
      orders: () => orders.latestWrite(PROBE_ID),
      stamps: () => checkStamps(inspection),
      stream: () => stream.ping(),
    },
    'changes wait, or show later than they should',
    logger,
  )
}

/** Further ahead, changes hide from `updated_lt=<now>`, and on OpenSearch no writer goes on. */
async function checkStamps(
  inspection: Pick<Stores['inspection'], 'writeTimestamps'>,
): Promise<void> {
  const aheadMs = writeTimestampsAheadMs(await inspection.writeTimestamps())
  if (aheadMs <= MAX_CLOCK_SKEW_MS) return
  throw new Error(`stamps are ${Math.round(aheadMs / 1000)} s ahead of the clock`)
}

/** Tells the log why it is not ready, what follows from it, and when it changes. */
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
