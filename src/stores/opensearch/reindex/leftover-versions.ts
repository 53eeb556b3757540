import type { WriteTargets } from './change-write-targets.ts'
import type { IndexVersions } from './index-versions.ts'

type Versions = Pick<IndexVersions, 'olderThan' | 'liveIndex'>

/**
 * Whether there are versions older than the only targets, which an interrupted `--finish` leaves. A
 * version with other aliases than those of a fence stays, so it needs no scan of the live index.
 * @throws Error when another index is read
 */
export async function hasLeftovers(versions: Versions, targets: WriteTargets): Promise<boolean> {
  await checkRead(versions, targets.orders[0])
  const older = await olderVersions(versions, targets)
  return older.some(({ hasAlias, hasFencedAlias }) => hasFencedAlias || !hasAlias)
}

/**
 * A fence would move the read alias to the target, and a restored lease may name an outdated one.
 * @throws Error when another index than the only target is read
 */
export async function checkRead(
  versions: Pick<IndexVersions, 'liveIndex'>,
  live: string,
): Promise<void> {
  const read = await versions.liveIndex()
  if (read === live) return
  throw new Error(
    `${read} is read, and the next writer makes ${live} live: nothing was removed; check "index status"`,
  )
}

/**
 * The leftovers once a writer has applied the only targets. Its fence removed the write aliases of
 * all other indices, so a version with an alias has another use.
 */
export async function unusedLeftovers(
  versions: Versions,
  targets: WriteTargets,
): Promise<readonly string[]> {
  const older = await olderVersions(versions, targets)
  return older.filter(({ hasAlias }) => !hasAlias).map(({ index }) => index)
}

async function olderVersions(
  { olderThan }: Versions,
  { orders: [live], versionRecords: [records = ''] }: WriteTargets,
) {
  return (await Promise.all([olderThan(live), olderThan(records)])).flat()
}
