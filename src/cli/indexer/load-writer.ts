import type { KeyStore } from '../../auth/key-store.ts'
import type { OrderIndex, WriteMode } from '../../indexing/writer/order-index.ts'
import { createWriter, type Writer } from '../../indexing/writer/writer.ts'
import { monotonicClock } from '../../lib/clock.ts'
import { Unavailable } from '../../lib/unavailable.ts'

/** The options of a load that decide how orders are dated, and what a version does that is there already. */
export interface WriterFlags {
  live?: true
  history?: true
  repair?: true
  reproject?: true
}

export interface LoadWriter {
  writer: Writer
  mode: WriteMode
}

/**
 * The writer of a load. Without `--live`, `--history` or `--repair` it keeps `changed_at` while no client pages,
 * which it checks now and, since a load may take long, again while it writes.
 * @throws Error asking for an option, once clients may page; the writer throws it too
 */
export async function createLoadWriter(
  { live, history, repair, reproject }: WriterFlags,
  index: OrderIndex,
  keys: Pick<KeyStore, 'wasAnyKeyUsed'>,
): Promise<LoadWriter> {
  const equalVersions = repair ? 'repair' : reproject ? 'reproject' : 'drop'
  const writer = createWriter(index, index.now, { equalVersions })
  if (live || repair) return { writer, mode: 'live' }
  if (history) return { writer, mode: 'back-fill' }
  if (index.hasLiveWrites()) throw new Error(modeRequiredMessage('orders were stamped live'))
  await assertNoKeyUsed(keys)
  return { writer: withKeyUseCheck(writer, keys), mode: 'back-fill' }
}

const CHECK_INTERVAL_MS = 1_000

function withKeyUseCheck(writer: Writer, keys: Pick<KeyStore, 'wasAnyKeyUsed'>): Writer {
  let checkedAt = monotonicClock()
  return {
    async write(changes, mode) {
      if (monotonicClock() - checkedAt >= CHECK_INTERVAL_MS) {
        checkedAt = monotonicClock()
        await assertNoKeyUsed(keys).catch(ignoreUnavailable)
      }
      return writer.write(changes, mode)
    },
  }
}

async function assertNoKeyUsed(keys: Pick<KeyStore, 'wasAnyKeyUsed'>): Promise<void> {
  if (await keys.wasAnyKeyUsed()) throw new Error(modeRequiredMessage('an API key was used'))
}

/** A store that does not answer now serves no page either; the next batch checks again. */
function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof Unavailable)) throw error
}

function modeRequiredMessage(evidence: string): string {
  return [
    `clients may page this index already: ${evidence}. Name the mode of this load:`,
    '  --live     stamp updated_at now, so that clients that follow the index receive these orders',
    '  --history  keep changed_at of new orders; clients that page now will not see these',
  ].join('\n')
}
