import type { ReindexEvents } from '../../../indexing/reindexing.ts'
import type { WriteTargets } from './change-write-targets.ts'
import { copyVersionRecords } from './copy-version-records.ts'
import type { IndexVersions, IndexVersionsOptions } from './index-versions.ts'
import type { RequestedTargets } from './requested-targets.ts'

export interface CompleteOptions extends IndexVersionsOptions {
  versions: IndexVersions
  targets: RequestedTargets
  /** The index of version records that is removed next, and the one that stays. */
  from: string
  to: string
}

/**
 * Copies what `to` lacks before it is the only index of version records. A bulk may have reached
 * `from` alone before a fence, and the writer then finds the change in `from`. Without `from`, `to`
 * is all there is.
 * @throws Unavailable; Error when records are missing after all comparisons
 */
export async function completeVersionRecords(
  { client, names, deadlineMs, versions, targets, from, to }: CompleteOptions,
  before: WriteTargets,
  events: ReindexEvents,
): Promise<void> {
  if (!(await versions.exists(from))) return
  // A writer that still applies an interrupted request sends to `from` first. Without one of its
  // targets, no fence can be raised, and no writer writes.
  const targetsExist = await Promise.all([...before.orders, to].map(versions.exists))
  const isWritten = targetsExist.every(Boolean)
  const apply = async (limited = events) => {
    if (isWritten) await targets.change(before, before, limited)
  }
  await apply()
  await versions.refresh(to)
  await versions.addCopyAlias(to)
  await copyVersionRecords({
    client,
    deadlineMs,
    onDelay: events.onDelay ?? (() => {}),
    signal: events.signal,
    prepareRetry: (signal) => apply({ ...events, signal }),
    aliasOf: isWritten ? targets.aliasOf : (index) => index,
    epoch: targets.epoch,
    from,
    to,
    alias: names.copyAlias(to),
  })
  await versions.removeCopyAlias(to)
}
