import { isSandbox } from '../../auth/account-ids.ts'
import { createDiskMap, type DiskMap } from '../../lib/files/disk-map.ts'
import type { ValidationError } from '../projection/change.ts'
import { type ComparedOrder, compareOrders, type SourceEntry } from './compare-orders.ts'
import { type Expectation, findInconsistentDocuments } from './find-inconsistent-documents.ts'
import { findMissingDocuments } from './find-missing-documents.ts'
import { type Inconsistency, type InconsistencyKind, inconsistencyKinds } from './inconsistency.ts'
import { type IndexInspection, isIntactRecord } from './index-inspection.ts'
import { createRecheck } from './recheck.ts'

/** The result of a check. */
export interface CheckReport extends Record<InconsistencyKind, number> {
  /** Source entries, including rejected ones. */
  read: number
  /** Distinct orders among them. */
  orders: number
  /**
   * Version records, erased orders included, whose documents were checked. Absent for a complete
   * source, since it shows missing documents more precisely.
   */
  known_orders?: number
  /** Documents of the index. */
  documents: number
  refused_lines: number
  /** The first inconsistencies. */
  examples: readonly Inconsistency[]
}

export interface CheckOptions {
  inspection: Omit<IndexInspection, 'overview'>
  /** The source orders that the index should have. */
  entries: AsyncIterable<SourceEntry> | Iterable<SourceEntry>
  /** Whether the source is complete. If not, the version records name further documents. */
  isWhole: boolean
  /** The maximum number of reported examples. */
  maxExamples: number
  pause(ms: number): Promise<unknown>
  onRejected(place: string, error: ValidationError): void
  /** Called regularly; an error it throws ends the check. */
  onProgress(progress: CheckProgress): void
}

export interface CheckProgress {
  read: number
  refused: number
  knownOrders: number
  documents: number
}

/**
 * Compares the index with source orders, then scans all documents, and with an incomplete source
 * all version records. It writes nothing and acquires no lease, so writers may be active.
 */
export async function checkIndex(options: CheckOptions): Promise<CheckReport> {
  // A source may have more orders than memory.
  const orders = createDiskMap<ComparedOrder>()
  try {
    return await check(options, orders)
  } finally {
    orders.close()
  }
}

async function check(options: CheckOptions, orders: DiskMap<ComparedOrder>): Promise<CheckReport> {
  const { inspection, entries, isWhole, maxExamples, pause, onRejected, onProgress } = options
  const recheck = createRecheck(pause)
  const counts = Object.fromEntries(inconsistencyKinds.map((kind) => [kind, 0])) as Record<
    InconsistencyKind,
    number
  >
  const examples: Inconsistency[] = []
  function onInconsistency(inconsistency: Inconsistency) {
    counts[inconsistency.kind]++
    if (examples.length < maxExamples) examples.push(inconsistency)
  }

  const { read, refused } = await compareOrders(entries, {
    orders,
    inspection,
    recheck,
    onRejected,
    onProgress: (comparison) => onProgress({ ...comparison, knownOrders: 0, documents: 0 }),
  })
  for (const { inconsistencies } of orders.values())
    for (const inconsistency of inconsistencies) onInconsistency(inconsistency)

  let knownOrders = 0
  if (!isWhole) {
    knownOrders = await findMissingDocuments({
      inspection,
      recheck,
      isReported: (fault) => isReported(orders.get(fault.orderId), fault),
      onInconsistency,
      onProgress: (knownOrders) => onProgress({ read, refused, knownOrders, documents: 0 }),
    })
  }
  const documents = await findInconsistentDocuments({
    inspection,
    recheck,
    expectation: isWhole ? expectedBySource(orders) : expectedByRecords,
    onInconsistency,
    onProgress: (documents) => onProgress({ read, refused, knownOrders, documents }),
  })
  return {
    read,
    orders: orders.size(),
    ...(!isWhole && { known_orders: knownOrders }),
    documents,
    ...counts,
    refused_lines: refused,
    examples,
  }
}

function isReported(
  order: ComparedOrder | undefined,
  { kind, accountId }: Pick<Inconsistency, 'kind' | 'accountId'>,
): boolean {
  return (order?.inconsistencies ?? []).some(
    (reported) => reported.kind === kind && reported.accountId === accountId,
  )
}

/** The accounts that the source names, unless the index has a newer or an unknown version. */
function expectedBySource(orders: DiskMap<ComparedOrder>): Expectation {
  return {
    what: 'the source has no such order, or not for this account',
    needsRecord: false,
    accounts({ accountId, orderId }, record) {
      const order = orders.get(orderId)
      // Account owners create the orders of their sandboxes, which the platform does not know.
      if (order === undefined) return isSandbox(accountId) ? null : []
      const isOfSource =
        record === undefined || (isIntactRecord(record) && record.version <= order.version)
      return isOfSource ? order.accountIds : null
    },
  }
}

const expectedByRecords: Expectation = {
  what: 'the index has no record of the order, or one without this account',
  needsRecord: true,
  accounts(_document, record) {
    if (record === undefined) return []
    return isIntactRecord(record) ? record.accountIds : null
  },
}
