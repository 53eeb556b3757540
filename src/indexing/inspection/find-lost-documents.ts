import type { Head, ViewKey } from '../writing/order-index.ts'
import type { Fault } from './fault.ts'
import type { IndexInspection } from './index-inspection.ts'
import type { LookAgain } from './look-again.ts'

export interface LostDocumentsOptions {
  inspection: Pick<IndexInspection, 'heads' | 'existing' | 'walkHeads'>
  lookAgain: LookAgain
  /** Whether it was told before that this document is missing. */
  isTold(key: ViewKey): boolean
  onFault(fault: Fault): void
  /** Told after every page. */
  onProgress(orders: number): void
}

/** A document that should be there, by the version that the index has of its order. */
interface Expected extends ViewKey {
  version: number
}

const MAX_SUSPECTS = 2_000

/**
 * Walks over all heads, and tells the documents that they name and that are not there. Returns how many
 * heads there were.
 */
export async function findLostDocuments(options: LostDocumentsOptions): Promise<number> {
  const { inspection, lookAgain, isTold, onFault, onProgress } = options
  let orders = 0
  let suspects: Expected[] = []

  async function absent(expected: readonly Expected[]): Promise<Expected[]> {
    const existing = new Set((await inspection.existing(expected)).map(nameOf))
    return expected.filter((document) => !existing.has(nameOf(document)))
  }

  async function judgeSuspects() {
    const lost = await lookAgain(suspects, async (left) => {
      const heads = await inspection.heads([...new Set(left.map(({ orderId }) => orderId))])
      const suspected = new Set(left.map(nameOf))
      const named = [...heads.values()].flatMap(namedDocuments)
      return absent(named.filter((document) => suspected.has(nameOf(document))))
    })
    for (const document of lost) onFault(missing(document))
    suspects = []
  }

  for await (const page of inspection.walkHeads()) {
    orders += page.length
    const named = page.flatMap(namedDocuments).filter((document) => !isTold(document))
    suspects = [...suspects, ...(await absent(named))]
    if (suspects.length >= MAX_SUSPECTS) await judgeSuspects()
    onProgress(orders)
  }
  await judgeSuspects()
  return orders
}

function namedDocuments({ orderId, version, accountIds, deleted }: Head): Expected[] {
  if (deleted) return []
  return accountIds.map((accountId) => ({ accountId, orderId, version }))
}

function missing({ accountId, orderId, version }: Expected): Fault {
  const what = `version ${version} has no document; the index itself names the account`
  return { kind: 'missing', accountId, orderId, what, fields: [] }
}

/** Neither id holds a colon. */
function nameOf({ accountId, orderId }: ViewKey): string {
  return `${accountId}:${orderId}`
}
