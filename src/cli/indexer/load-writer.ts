import type { KeyStore } from '../../auth/key-store.ts'
import type { OrderIndex, WriteMode } from '../../indexing/writer/order-index.ts'
import { createWriter, type Writer } from '../../indexing/writer/writer.ts'
import { monotonicClock } from '../../lib/clock.ts'
import { Unavailable } from '../../lib/unavailable.ts'

/** Options of a load: how orders are stamped and announced, and how an indexed version is handled. */
export interface WriterFlags {
  live?: true
  history?: true
  repair?: true
  reproject?: true
  /** Epoch milliseconds. */
  announceSince?: number
}

export interface LoadWriter {
  writer: Writer
  mode: WriteMode
}

/**
 * Creates the writer of a load. Without `--live`, `--history` or `--repair` it keeps `changed_at`,
 * which is safe only while no client pages. A load may run for hours, so each write checks again.
 * @throws Error naming the options, once clients may page; the writer throws it too
 */
export async function createLoadWriter(
  { live, history, repair, reproject, announceSince: announceSinceMs }: WriterFlags,
  index: OrderIndex,
  keys: Pick<KeyStore, 'wasAnyKeyUsed'>,
): Promise<LoadWriter> {
  const equalVersions = repair ? 'repair' : reproject ? 'reproject' : 'drop'
  const writer = createWriter(index, index.now, { equalVersions, announceSinceMs })
  if (live || repair) return { writer, mode: 'live' }
  if (history) return { writer, mode: 'history' }
  if (index.hasLiveWrites()) throw new Error(modeRequiredMessage('orders were stamped live'))
  await assertNoKeyUsed(keys)
  return { writer: withKeyUseCheck(writer, keys), mode: 'history' }
}

const CHECK_INTERVAL_MS = 1_000

function withKeyUseCheck(writer: Writer, keys: Pick<KeyStore, 'wasAnyKeyUsed'>): Writer {
  let checkedAt = monotonicClock()
  let lastCheck: Promise<void> = Promise.resolve()
  return {
    async write(changes, mode) {
      if (monotonicClock() - checkedAt >= CHECK_INTERVAL_MS) {
        checkedAt = monotonicClock()
        lastCheck = lastCheck.then(() => assertNoKeyUsed(keys).catch(ignoreUnavailable))
      }
      // Every call awaits it, since a later batch must not overtake the one that checks.
      await lastCheck
      return writer.write(changes, mode)
    },
  }
}

async function assertNoKeyUsed(keys: Pick<KeyStore, 'wasAnyKeyUsed'>): Promise<void> {
  if (await keys.wasAnyKeyUsed()) throw new Error(modeRequiredMessage('an API key was used'))
}

/** A store that is unavailable serves no page either; the next batch checks again. */
function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof Unavailable)) throw error
}

function modeRequiredMessage(evidence: string): string {
  return [
    `clients may page this index already: ${evidence}. Name the mode of this load:`,
    '  --live     set updated_at to now, so that clients that sync receive these orders',
    '  --history  keep changed_at of new orders; clients that already page miss them',
  ].join('\n')
}
