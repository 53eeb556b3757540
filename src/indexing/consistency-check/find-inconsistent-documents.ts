import type { ViewKey } from '../../orders/order-store.ts'
import type { Inconsistency } from './inconsistency.ts'
import type { IndexInspection, InspectedDocument, InspectedRecord } from './index-inspection.ts'
import { invalidKeyFields } from './invalid-key-fields.ts'
import type { Recheck } from './recheck.ts'

/** Which accounts may have a document of the order of this one; `null`: any of them. */
export interface Expectation {
  accounts(document: ViewKey, record: InspectedRecord | undefined): readonly string[] | null
  /** Why a document is unexpected, in words for an operator. */
  what: string
  /** Whether `accounts` needs the version record. */
  needsRecord: boolean
}

export interface InconsistentDocumentsOptions {
  inspection: Pick<IndexInspection, 'versionRecords' | 'existingKeys' | 'scanDocuments'>
  recheck: Recheck
  expectation: Expectation
  onInconsistency(inconsistency: Inconsistency): void
  /** Called after each page. */
  onProgress(documents: number): void
}

const MAX_CANDIDATES = 2_000

/**
 * Scans all documents and reports unexpected ones, wrong key fields and damage. Only unexpected
 * ones are checked again: documents are written atomically, so a concurrent write cannot cause the
 * others. Returns the number of documents.
 */
export async function findInconsistentDocuments(
  options: InconsistentDocumentsOptions,
): Promise<number> {
  const { inspection, recheck, expectation, onInconsistency, onProgress } = options
  let documents = 0
  let candidates: ViewKey[] = []

  const unexpected = (keys: readonly ViewKey[], records: ReadonlyMap<string, InspectedRecord>) =>
    keys.filter((key) => {
      const accounts = expectation.accounts(key, records.get(key.orderId))
      return accounts !== null && !accounts.includes(key.accountId)
    })
  const readRecords = (keys: readonly ViewKey[]) =>
    inspection.versionRecords([...new Set(keys.map(({ orderId }) => orderId))])

  async function recheckCandidates() {
    const extra = await recheck(candidates, async (left) => {
      const existing = await inspection.existingKeys(left)
      return unexpected(existing, await readRecords(existing))
    })
    for (const key of extra)
      onInconsistency({ ...key, kind: 'extra', what: expectation.what, fields: [] })
    candidates = []
  }

  for await (const page of inspection.scanDocuments()) {
    documents += page.length
    const valid = page.filter((document) => {
      const fields = invalidKeyFields(document)
      if (fields.length > 0) onInconsistency(withoutKeyFields(document, fields))
      else if (document.damaged) onInconsistency(damaged(document))
      return fields.length === 0
    })
    const keys = valid.map(({ address }) => address)
    const records = expectation.needsRecord
      ? await readRecords(keys)
      : new Map<string, InspectedRecord>()
    candidates.push(...unexpected(keys, records))
    if (candidates.length >= MAX_CANDIDATES) await recheckCandidates()
    onProgress(documents)
  }
  await recheckCandidates()
  return documents
}

function withoutKeyFields(
  { address }: InspectedDocument,
  fields: readonly string[],
): Inconsistency {
  const what = 'key fields are missing, of a wrong type, or not those of the order inside'
  return { ...address, kind: 'without_key_field', what, fields }
}

function damaged({ address }: InspectedDocument): Inconsistency {
  const what =
    'the document does not match its checksum; "index load --repair FILE" with its source order rewrites it'
  return { ...address, kind: 'damaged', what, fields: [] }
}
