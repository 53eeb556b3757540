import type { Logger } from 'pino'
import {
  createReadinessCheck,
  probeOrders,
  type Readiness,
} from '../../http/operations/readiness.ts'
import { writeTimestampsAheadMs } from '../../indexing/consistency-check/index-inspection.ts'
import type { ChangeStream } from '../../indexing/sources/change-stream.ts'
import { MAX_CLOCK_SKEW_MS } from '../../indexing/writer/clock-skew.ts'
import type { Stores } from '../../stores/stores.ts'

/**
 * Checks what a watch needs: the order store, its write timestamps, and the change stream. A fault
 * of the read alias is a warning, since changes are written.
 */
export function createWatchReadiness(
  { orders, inspection }: Pick<Stores, 'orders' | 'inspection'>,
  stream: Pick<ChangeStream, 'ping'>,
  alias: { isFaulty(): boolean },
  logger: Logger,
): Readiness {
  const check = createReadinessCheck(
    {
      orders: () => probeOrders(orders),
      stamps: () => checkWriteTimestamps(inspection),
      stream: () => stream.ping(),
    },
    'changes are delayed',
    logger,
  )
  return async () => {
    const { status, checks } = await check()
    return { status, checks: { ...checks, alias: alias.isFaulty() ? 'degraded' : 'ok' } }
  }
}

/** Timestamps further ahead hide changes from `updated_lt=<now>` and stop writers on OpenSearch. */
async function checkWriteTimestamps(
  inspection: Pick<Stores['inspection'], 'writeTimestamps'>,
): Promise<void> {
  const aheadMs = writeTimestampsAheadMs(await inspection.writeTimestamps())
  if (aheadMs <= MAX_CLOCK_SKEW_MS) return
  throw new Error(`write timestamps are ${Math.round(aheadMs / 1000)} s ahead of the clock`)
}
