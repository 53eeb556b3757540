import { concreteIndex, type IndexNames } from '../indices/index-names.ts'
import type { Lease } from './lease/lease.ts'
import type { BulkTarget } from './optimistic-concurrency.ts'

/** Where a transaction of the holder of the lease reads the documents of a kind. */
export interface ReadTargets {
  index(target: BulkTarget): string
  /** The write alias of the index and of the current epoch. A node without it missed the fence. */
  alias(target: BulkTarget): string
}

export function createReadTargets(
  lease: Pick<Lease, 'epoch' | 'writeTargets' | 'versionRecordTargets'>,
  names: IndexNames,
): ReadTargets {
  const indexOf = {
    orders: () => lease.writeTargets()[0],
    eventRecords: () => undefined,
    // A lease of an earlier release names no index of version records.
    versionRecords: () => lease.versionRecordTargets()[0],
  }
  const index = (target: BulkTarget) => indexOf[target]() ?? concreteIndex(names[target], 1)
  return { index, alias: (target) => names.writeAlias(index(target), lease.epoch()) }
}
