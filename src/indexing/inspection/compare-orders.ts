import { type Change, isRefusal, type Refusal } from '../projection/change.ts'
import type { Fault } from './fault.ts'
import type { IndexInspection } from './index-inspection.ts'
import { type Judgement, judgeChanges } from './judge-changes.ts'
import type { LookAgain } from './look-again.ts'

/** One source order of those that should be in the index. */
export interface SourceEntry {
  /** Where it was read, in words for an operator, such as `line 12`. */
  place: string
  bytes: number
  result: Change | Refusal
}

/** What is kept of an order: of its newest version among the entries, and never the order itself. */
export interface ComparedOrder {
  version: number
  /** The accounts that see this version; `null` where the index goes by another one. */
  accountIds: readonly string[] | null
  faults: readonly Fault[]
}

export interface Comparison {
  /** Entries that were read. */
  read: number
  /** Entries that no index takes, or not this one. */
  refused: number
  /** By order id. */
  orders: Map<string, ComparedOrder>
}

export interface CompareOptions {
  inspection: Pick<IndexInspection, 'heads' | 'documents'>
  lookAgain: LookAgain
  onRefused(place: string, refusal: Refusal): void
  /** Told after every batch. */
  onProgress(comparison: Readonly<Comparison>): void
}

interface Placed {
  place: string
  bytes: number
  change: Change
}

interface Limits {
  entries: number
  bytes: number
}

const BATCH: Limits = { entries: 500, bytes: 4 * 1024 * 1024 }
/** What is looked at again together, since every look takes a second. */
const SUSPECTS: Limits = { entries: 2_000, bytes: 16 * 1024 * 1024 }
const NO_FAULTS: readonly Fault[] = []

/**
 * Compares the index with source orders, in any sequence: of an order its newest version counts, and of
 * two entries of one version the first, as for a writer. Memory: a small record an order with what is wrong
 * with it; of the orders themselves a batch, and what is to be looked at again.
 */
export async function compareOrders(
  entries: AsyncIterable<SourceEntry> | Iterable<SourceEntry>,
  { inspection, lookAgain, onRefused, onProgress }: CompareOptions,
): Promise<Comparison> {
  const comparison: Comparison = { read: 0, refused: 0, orders: new Map() }
  const { orders } = comparison
  let batch: Placed[] = []
  let suspects: Placed[] = []

  function refuse(place: string, refusal: Refusal) {
    comparison.refused++
    onRefused(place, refusal)
  }

  /** Keeps a judgement, and tells whether it is one to look at again. */
  function keep(judgement: Judgement): boolean {
    const { orderId, version, views } = judgement.change
    if ('faults' in judgement) {
      const faults = judgement.faults.length > 0 ? judgement.faults : NO_FAULTS
      orders.set(orderId, { version, accountIds: views.map((view) => view.accountId), faults })
      return faults !== NO_FAULTS
    }
    orders.set(orderId, { version, accountIds: null, faults: NO_FAULTS })
    return false
  }

  async function judgeBatch() {
    const judgements = await judgeChanges(
      inspection,
      batch.map(({ change }) => change),
    )
    for (const [at, judgement] of judgements.entries()) {
      const { orderId, version } = judgement.change
      const placed = batch[at]
      const known = orders.get(orderId)
      if (placed === undefined) throw new Error('a judgement of no entry')
      if (judgement.standing === 'refused') {
        refuse(placed.place, judgement.refusal)
        // The order is known, and whatever else is told of it counts.
        if (known === undefined) keep({ ...judgement, change: { ...judgement.change, version: 0 } })
      } else if (known === undefined || known.version < version) {
        if (keep(judgement)) suspects.push(placed)
      }
    }
    batch = []
    if (isFull(suspects, SUSPECTS)) await judgeSuspects()
    onProgress(comparison)
  }

  async function judgeSuspects() {
    await lookAgain(suspects, async (left) => {
      // A newer version that was read meanwhile is what counts.
      const counting = left.filter(
        ({ change }) => orders.get(change.orderId)?.version === change.version,
      )
      const judgements = await judgeChanges(
        inspection,
        counting.map(({ change }) => change),
      )
      const faulty = new Set(judgements.filter(keep).map(({ change }) => change))
      return counting.filter(({ change }) => faulty.has(change))
    })
    suspects = []
  }

  for await (const { place, bytes, result } of entries) {
    comparison.read++
    if (isRefusal(result)) refuse(place, result)
    else batch.push({ place, bytes, change: result })
    if (isFull(batch, BATCH)) await judgeBatch()
  }
  await judgeBatch()
  await judgeSuspects()
  return comparison
}

function isFull(placed: readonly Placed[], limits: Limits): boolean {
  const bytes = placed.reduce((sum, { bytes }) => sum + bytes, 0)
  return placed.length >= limits.entries || bytes >= limits.bytes
}
