import type { Refusal } from '../projection/change.ts'
import type { ViewKey } from '../writing/order-index.ts'
import { type ComparedOrder, compareOrders, type SourceEntry } from './compare-orders.ts'
import { type Fault, type FaultKind, faultKinds } from './fault.ts'
import { type Expectation, findFaultyDocuments } from './find-faulty-documents.ts'
import { findLostDocuments } from './find-lost-documents.ts'
import type { IndexInspection } from './index-inspection.ts'
import { createLookAgain } from './look-again.ts'

/** What a check found. */
export interface CheckReport extends Record<FaultKind, number> {
  /** Source orders that were read, refused ones too. */
  read: number
  /** Orders that these tell of. */
  orders: number
  /**
   * Orders that the index knows, erased ones too, whose documents were looked up; absent where the source is
   * whole, which tells better what is missing.
   */
  known_orders?: number
  /** Documents of the index. */
  documents: number
  refused_lines: number
  /** The first faults. */
  examples: readonly Fault[]
}

export interface CheckOptions {
  inspection: Omit<IndexInspection, 'overview'>
  /** What should be in the index. */
  entries: AsyncIterable<SourceEntry> | Iterable<SourceEntry>
  /** Whether these are all: then nothing else should be in it. Else only what its own heads name. */
  isWhole: boolean
  /** How many faults are told as examples. */
  maxExamples: number
  pause(ms: number): Promise<unknown>
  onRefused(place: string, refusal: Refusal): void
  /** Told now and then; it may throw to end the check. */
  onProgress(progress: CheckProgress): void
}

export interface CheckProgress {
  read: number
  refused: number
  knownOrders: number
  documents: number
}

/**
 * Compares the index with source orders, then walks over all of it: where these are not all, over the orders
 * that it knows too. Nothing is written and no lease taken, so writers may be at work meanwhile.
 */
export async function checkIndex(options: CheckOptions): Promise<CheckReport> {
  const { inspection, entries, isWhole, maxExamples, pause, onRefused, onProgress } = options
  const lookAgain = createLookAgain(pause)
  const counts = Object.fromEntries(faultKinds.map((kind) => [kind, 0])) as Record<
    FaultKind,
    number
  >
  const examples: Fault[] = []
  function onFault(fault: Fault) {
    counts[fault.kind]++
    if (examples.length < maxExamples) examples.push(fault)
  }

  const { read, refused, orders } = await compareOrders(entries, {
    inspection,
    lookAgain,
    onRefused,
    onProgress: (comparison) => onProgress({ ...comparison, knownOrders: 0, documents: 0 }),
  })
  for (const { faults } of orders.values()) for (const fault of faults) onFault(fault)

  let knownOrders = 0
  if (!isWhole) {
    knownOrders = await findLostDocuments({
      inspection,
      lookAgain,
      isTold: (key) => isMissing(orders.get(key.orderId), key),
      onFault,
      onProgress: (knownOrders) => onProgress({ read, refused, knownOrders, documents: 0 }),
    })
  }
  const documents = await findFaultyDocuments({
    inspection,
    lookAgain,
    expectation: isWhole ? namedBy(orders) : namedByHeads,
    onFault,
    onProgress: (documents) => onProgress({ read, refused, knownOrders, documents }),
  })
  return {
    read,
    orders: orders.size,
    ...(!isWhole && { known_orders: knownOrders }),
    documents,
    ...counts,
    refused_lines: refused,
    examples,
  }
}

function isMissing(order: ComparedOrder | undefined, { accountId }: ViewKey): boolean {
  const faults = order?.faults ?? []
  return faults.some((fault) => fault.kind === 'missing' && fault.accountId === accountId)
}

/** The accounts that the source names, unless the index has a newer version by now. */
function namedBy(orders: ReadonlyMap<string, ComparedOrder>): Expectation {
  return {
    what: 'the source has no such order, or not for this account',
    needsHead: false,
    accounts(orderId, head) {
      const order = orders.get(orderId)
      if (order === undefined) return []
      return head !== undefined && head.version > order.version ? null : order.accountIds
    },
  }
}

const namedByHeads: Expectation = {
  what: 'the index does not know the order, or knows that it is not for this account',
  needsHead: true,
  accounts: (_orderId, head) => head?.accountIds ?? [],
}
