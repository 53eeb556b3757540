import type { Head, ViewKey } from '../writing/order-index.ts'
import type { Fault } from './fault.ts'
import type { FoundDocument, IndexInspection } from './index-inspection.ts'
import { keyFaults } from './key-faults.ts'
import type { LookAgain } from './look-again.ts'

/** Which accounts may have a document of an order; `null`: any of them. */
export interface Expectation {
  accounts(orderId: string, head: Head | undefined): readonly string[] | null
  /** Why a document is one too many, in words for an operator. */
  what: string
  /** Whether `accounts` can only tell with the head. */
  needsHead: boolean
}

export interface FaultyDocumentsOptions {
  inspection: Pick<IndexInspection, 'heads' | 'existing' | 'walk'>
  lookAgain: LookAgain
  expectation: Expectation
  onFault(fault: Fault): void
  /** Told after every page. */
  onProgress(documents: number): void
}

const MAX_SUSPECTS = 2_000

/**
 * Walks over all documents, and tells those that should not be there, those whose key fields are wrong and
 * those that are damaged. Of these only the first are looked at again: a document is written whole, so nothing
 * that is under way makes the others. Returns how many documents there were.
 */
export async function findFaultyDocuments(options: FaultyDocumentsOptions): Promise<number> {
  const { inspection, lookAgain, expectation, onFault, onProgress } = options
  let documents = 0
  let suspects: ViewKey[] = []

  const unexpected = (keys: readonly ViewKey[], heads: ReadonlyMap<string, Head>) =>
    keys.filter(({ accountId, orderId }) => {
      const accounts = expectation.accounts(orderId, heads.get(orderId))
      return accounts !== null && !accounts.includes(accountId)
    })
  const readHeads = (keys: readonly ViewKey[]) =>
    inspection.heads([...new Set(keys.map(({ orderId }) => orderId))])

  async function judgeSuspects() {
    const extra = await lookAgain(suspects, async (left) => {
      const existing = await inspection.existing(left)
      return unexpected(existing, await readHeads(existing))
    })
    for (const key of extra) onFault({ ...key, kind: 'extra', what: expectation.what, fields: [] })
    suspects = []
  }

  for await (const page of inspection.walk()) {
    documents += page.length
    const sound = page.filter((document) => {
      const fields = keyFaults(document)
      if (fields.length > 0) onFault(withoutKeyFields(document, fields))
      else if (document.damaged) onFault(damaged(document))
      return fields.length === 0
    })
    const keys = sound.map(({ address }) => address)
    const heads = expectation.needsHead ? await readHeads(keys) : new Map<string, Head>()
    suspects.push(...unexpected(keys, heads))
    if (suspects.length >= MAX_SUSPECTS) await judgeSuspects()
    onProgress(documents)
  }
  await judgeSuspects()
  return documents
}

function withoutKeyFields({ address }: FoundDocument, fields: readonly string[]): Fault {
  const what = 'key fields are missing, of a wrong type, or not those of the order inside'
  return { ...address, kind: 'without_key_field', what, fields }
}

function damaged({ address }: FoundDocument): Fault {
  const what =
    'the document is not as it was written; "index load --repair FILE" with its source order writes it anew'
  return { ...address, kind: 'damaged', what, fields: [] }
}
