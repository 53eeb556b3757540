import { setTimeout as pause } from 'node:timers/promises'
import { backoffMs } from '../../../lib/backoff.ts'
import { UNPLACED } from '../document-walk.ts'
import { type CopyOptions, copyMissing, removeExtras } from './copy.ts'
import { expectUndamaged } from './expect-undamaged.ts'
import type { Versions } from './versions.ts'

export interface FillOptions extends Omit<CopyOptions, 'onPage'> {
  versions: Versions
  /** Documents looked at, of how many, since the last look began. */
  onProgress(looked: number, total: number): void
}

/**
 * How often a new index may be found to be another before it is given up. With the pauses in between that is
 * longer than a lease: what a writer left that died in the midst of a bulk, the next one levels.
 */
const LOOKS = 10

/**
 * Makes a new index have what the one that is read has: looks, copies and removes until a look finds nothing
 * to do. Both are fed meanwhile.
 * @throws Unavailable; Error when it does not come to that, or a document is not as it was written
 */
export async function fill(options: FillOptions): Promise<{ copied: number; removed: number }> {
  const { versions, from, to, onProgress, signal } = options
  const filled = { copied: 0, removed: 0 }
  await versions.refresh(from)
  await expectPlaces(options)
  for (let look = 1; ; look++) {
    const total = await versions.count(from)
    let looked = 0
    const onPage = (documents: number) => {
      looked += documents
      onProgress(looked, Math.max(looked, total))
    }
    await versions.refresh(from)
    const { copied, left } = await copyMissing({ ...options, onPage })
    await versions.refresh(to)
    const removed = await removeExtras({ ...options, onPage })
    filled.copied += copied
    filled.removed += removed
    if (copied + left + removed === 0) {
      looked = 0
      // A copy of an earlier attempt may be damaged.
      await expectUndamaged({ ...options, index: to, wayOut: REMOVE_COPY, onPage })
      return filled
    }
    if (look === LOOKS) {
      throw new Error(
        `${to} was still another than ${from} after ${LOOKS} looks: "index reindex" looks again, "--rollback" gives it up`,
      )
    }
    await pause(backoffMs(look), undefined, { signal })
  }
}

const REMOVE_COPY =
  '"index reindex --rollback" removes this copy; then "index reindex" makes another'

/** Documents that a walk does not find would stay behind. */
async function expectPlaces({ versions, from }: FillOptions): Promise<void> {
  const count = await versions.count(from, UNPLACED)
  if (count === 0) return
  throw new Error(
    `${count} documents of ${from} have no account or no id: "index check" tells which; remove them first`,
  )
}
