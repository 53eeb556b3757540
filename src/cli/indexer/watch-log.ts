import type { Logger } from 'pino'
import { totalCount } from '../../indexing/sources/change-stream.ts'
import type { WatchEvents } from '../../indexing/sources/watch.ts'
import type { BatchCounts } from '../../indexing/sources/watch-batch.ts'
import { MINUTE_MS } from '../../lib/durations.ts'

export type WatchLog = Omit<WatchEvents, 'onWritten'> & {
  /** Logs the last summary. */
  close(): void
}

const SUMMARY_MS = MINUTE_MS
/** Maximum number of lost entries that a log line names. */
const MAX_LOGGED_IDS = 20

/** Logs the state of a watch and a summary each minute; never the data of an order. */
export function createWatchLog(logger: Logger): WatchLog {
  let sum: BatchCounts = { written: 0, unchanged: 0, older: 0, refused: 0 }
  let isWriter = false

  function logSummary(): void {
    const { written, unchanged, older, refused } = sum
    if (written + unchanged + older + refused === 0) return
    logger.info(sum, 'changes since the last summary')
    sum = { written: 0, unchanged: 0, older: 0, refused: 0 }
  }
  const timer = setInterval(logSummary, SUMMARY_MS).unref()

  return {
    onStandby: (reason) => logger.info({ reason }, 'on standby'),
    onWriter(isNowWriter) {
      if (isNowWriter) logger.info('this is the writer now')
      else if (isWriter) logger.info('this is no longer the writer')
      isWriter = isNowWriter
    },
    onLeaseLost: () =>
      logger.warn('another writer took over: this one did not renew its lease in time'),
    onOutage: (reason) =>
      logger.warn({ reason }, 'writes are failing: retrying until they succeed'),
    onRecovered: () => logger.info('writes recovered'),
    onRejected: (entryId, { path, reason }) =>
      logger.warn({ entry_id: entryId, path, reason }, 'rejected: goes to the dead letters'),
    onLost: (entries) =>
      logger.error(
        {
          lost: totalCount(entries),
          entry_ids: entries.slice(0, MAX_LOGGED_IDS).map(({ id }) => id),
        },
        'entries removed from the stream before they were written: load these orders again',
      ),
    onBatch({ written, unchanged, older, refused }) {
      sum = {
        written: sum.written + written,
        unchanged: sum.unchanged + unchanged,
        older: sum.older + older,
        refused: sum.refused + refused,
      }
    },
    close() {
      clearInterval(timer)
      logSummary()
    },
  }
}
