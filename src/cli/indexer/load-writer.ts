import type { KeyStore } from '../../auth/key-store.ts'
import type { Change } from '../../indexing/projection/change.ts'
import type { OrderIndex, WriteMode } from '../../indexing/writer/order-index.ts'
import { createWriter, type Writer } from '../../indexing/writer/writer.ts'
import { retryUntilDeadline } from '../../lib/async/retry-until-deadline.ts'
import { monotonicClock } from '../../lib/clock.ts'
import { MINUTE_MS } from '../../lib/durations.ts'

/**
 * Options of a load: how orders are stamped and announced, and how an indexed version is handled.
 */
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
  /**
   * Completes the load for clients that began during it. Call it once every write has ended, also
   * after a failure. @throws like the writer, and Unavailable when the use of keys stays unknown
   */
  finish(): Promise<void>
}

export interface LoadWriterOptions {
  index: OrderIndex
  keys: Pick<KeyStore, 'wasAnyKeyUsed'>
  /** Receives the reason of a delay, in words for an operator. */
  onDelay(reason: string): void
  /** Ends the wait for a store. */
  signal?: AbortSignal
}

/**
 * Creates the writer of a load. Without `--live`, `--history` or `--repair` it keeps `changed_at`,
 * which is safe only while no client pages. A load may run for hours, so its writer checks again.
 * @throws Error naming the options, once clients may page; the writer throws it too
 */
export async function createLoadWriter(
  { live, history, repair, reproject, announceSince: announceSinceMs }: WriterFlags,
  options: LoadWriterOptions,
): Promise<LoadWriter> {
  const { index, keys } = options
  const unlessRepair = reproject ? 'reproject' : 'drop'
  const equalVersions = repair ? 'repair' : unlessRepair
  const writer = createWriter(index, index.now, { equalVersions, announceSinceMs })
  if (live || repair) return { writer, mode: 'live', async finish() {} }
  if (history) return { writer, mode: 'history', async finish() {} }
  if (index.hasLiveWrites()) throw new Error(modeRequiredMessage('orders were stamped live'))
  if (await keys.wasAnyKeyUsed()) throw new Error(KEY_USED)
  return { ...withKeyUseCheck(writer, options), mode: 'history' }
}

const CHECK_INTERVAL_MS = 1_000
/** Longer than a cluster needs to replace a node. */
const CHECK_DEADLINE_MS = 5 * MINUTE_MS

/**
 * Checks the use of keys once a second, and at the end. A key may be used between two checks, and
 * its client then has a cursor beyond dates that are written afterwards. So `finish` dates the
 * orders since the last check without a use again, with a write timestamp.
 */
function withKeyUseCheck(
  writer: Writer,
  { index, keys, onDelay, signal }: LoadWriterOptions,
): Omit<LoadWriter, 'mode'> {
  // Announces nothing, as the load itself, whose failed writes may be written here at first.
  const silent = { equalVersions: 'rewrite', announceSinceMs: Infinity } as const
  const rewriter = createWriter(index, index.now, silent)
  /** Written since the last check without a use; of a failed batch, every change. */
  let unchecked: Change[][] = []
  let checkedAt = monotonicClock()
  let lastCheck: Promise<void> = Promise.resolve()

  /**
   * A client whose first use is later than this check reads all orders that were written before.
   */
  function wasAnyKeyUsed(): Promise<boolean> {
    const retries = {
      deadlineMs: CHECK_DEADLINE_MS,
      activity: 'checking the use of keys',
      signal,
      onRetry: ({ message }: Error) => onDelay(`${message}; retrying`),
    }
    return retryUntilDeadline(retries, async () => {
      await index.refresh()
      return await keys.wasAnyKeyUsed()
    })
  }

  async function check(): Promise<void> {
    const count = unchecked.length
    if (await wasAnyKeyUsed()) throw new Error(KEY_USED)
    unchecked = unchecked.slice(count)
  }

  return {
    writer: {
      async write(changes, mode) {
        if (monotonicClock() - checkedAt >= CHECK_INTERVAL_MS) {
          checkedAt = monotonicClock()
          lastCheck = lastCheck.then(check)
        }
        // Every call awaits it, since a later batch must not overtake the one that checks.
        await lastCheck
        let written = [...changes] // All of them if the outcome is unknown.
        try {
          const results = await writer.write(changes, mode)
          written = changes.filter((_, n) => results[n] === 'written' || results[n] === 'unchanged')
          return results
        } finally {
          unchecked.push(written)
        }
      },
    },
    async finish() {
      if (unchecked.length === 0 || !(await wasAnyKeyUsed())) return
      for (const changes of unchecked) await rewriter.write(changes, 'live')
    },
  }
}

const KEY_USED = modeRequiredMessage('an API key was used')

function modeRequiredMessage(evidence: string): string {
  return [
    `clients may page this index already: ${evidence}. Name the mode of this load:`,
    '  --live     set updated_at to now, so that clients that sync receive these orders',
    '  --history  keep changed_at of new orders; clients that already page miss them',
  ].join('\n')
}
