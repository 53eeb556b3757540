import type { Logger } from 'pino'
import type { WatchEvents } from '../../indexing/sources/watch.ts'
import type { BatchCounts } from '../../indexing/sources/watch-batch.ts'

export type WatchLog = Omit<WatchEvents, 'onWritten'> & {
  /** Sums up a last time. */
  close(): void
}

const SUMMARY_MS = 60_000
/** Of entries that are lost, so many are named. */
const MAX_LOGGED_IDS = 20

/** Tells an operator how a watch goes, now and then a sum of what it did; nothing of any order's data. */
export function createWatchLog(logger: Logger): WatchLog {
  let sum: BatchCounts = { written: 0, unchanged: 0, older: 0, refused: 0 }
  let isWriter = false

  function logSummary(): void {
    const { written, unchanged, older, refused } = sum
    if (written + unchanged + older + refused === 0) return
    logger.info(sum, 'changes since the last of these lines')
    sum = { written: 0, unchanged: 0, older: 0, refused: 0 }
  }
  const timer = setInterval(logSummary, SUMMARY_MS).unref()

  return {
    onStandby: (reason) => logger.info({ reason }, 'standing by'),
    onWriter(isNowWriter) {
      if (isNowWriter) logger.info('this is the writer now')
      else if (isWriter) logger.info('this is the writer no more')
      isWriter = isNowWriter
    },
    onLeaseLost: () =>
      logger.warn('another writer took over: this one did not renew its lease in time'),
    onOutage: (reason) =>
      logger.warn({ reason }, 'nothing is written for now; trying until it works'),
    onRecovered: () => logger.info('it works again'),
    onRefused: (entryId, { path, reason }) =>
      logger.warn({ entry_id: entryId, path, reason }, 'refused, and parked'),
    onLost: (ids) =>
      logger.error(
        { lost: ids.length, entry_ids: ids.slice(0, MAX_LOGGED_IDS) },
        'gone from the stream before they were written: somebody else trimmed it. Load these orders again',
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
