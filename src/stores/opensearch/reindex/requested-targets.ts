import type { ReindexEvents } from '../../../indexing/reindexing.ts'
import type { Clock } from '../../../lib/clock.ts'
import { readLiveVersion } from '../indices/live-version.ts'
import { readVersionRecordIndex } from '../indices/version-record-index.ts'
import { leaseDocument } from '../lease-document.ts'
import { createFence } from '../write/lease/fence.ts'
import { createStoreClock } from '../write/lease/store-clock.ts'
import { readMaxWriteTimestamp } from '../write/lease/write-timestamps.ts'
import { changeWriteTargets, type WriteTargets } from './change-write-targets.ts'
import type { IndexVersionsOptions } from './index-versions.ts'

export interface RequestedTargetsOptions extends IndexVersionsOptions {
  leaseMs: number
  /** Epoch milliseconds. */
  clock: Clock
}

/** The write targets that the lease document requests of the writer. */
export interface RequestedTargets {
  read(): Promise<WriteTargets>
  /** Returns once a writer has applied `to`. @throws like {@link changeWriteTargets} */
  change(from: WriteTargets, to: WriteTargets, events: ReindexEvents): Promise<void>
  /**
   * The write alias of a target in the epoch that applied the last change. A node that missed the
   * change does not know it. The index itself before a change.
   */
  aliasOf(index: string): string
  /** The epoch of these aliases; 0 before a change. */
  epoch(): number
}

/** Reads and changes the lease document. */
export function createRequestedTargets({
  client,
  names,
  leaseMs,
  deadlineMs,
  clock,
}: RequestedTargetsOptions): RequestedTargets {
  const document = leaseDocument(client, names, deadlineMs)
  const versionRecordIndex = () => readVersionRecordIndex(client, names, deadlineMs)

  let epoch = 0

  async function read(): Promise<WriteTargets> {
    const record = (await document.read())?.record
    const [live, ...others] = record?.targets ?? []
    const versionRecords = record?.version_records ?? [await versionRecordIndex()]
    const first = live ?? (await readLiveVersion(client, names, deadlineMs))
    return { orders: [first, ...others], versionRecords }
  }

  return {
    read,

    async change(from, to, { onDelay = () => {}, signal }) {
      const options = {
        document,
        fence: createFence({ client, names, deadlineMs, onDelay }),
        leaseMs,
        clock,
        storeClock: createStoreClock(client, Math.min(leaseMs, deadlineMs)),
        maxWriteTimestamp: () => readMaxWriteTimestamp(client, names, deadlineMs),
        versionRecordIndex,
        onDelay,
        signal,
      }
      epoch = await changeWriteTargets(options, from, to)
    },

    epoch: () => epoch,
    aliasOf: (index) => (epoch > 0 ? names.writeAlias(index, epoch) : index),
  }
}
