import type { OpenSearch } from '../client/client.ts'
import { readSourceBytes } from '../client/documents/read-documents.ts'
import { type IndexToRead, nameOf, type ScannedHit } from '../client/search/scan.ts'
import { orderByteLength } from './checksum-header.ts'
import { documentBatches } from './document-batches.ts'
import { isIntactSource } from './order-document-source.ts'

export interface DamageOptions {
  client: OpenSearch
  index: IndexToRead
  /** For each request, the response body included. */
  deadlineMs: number
  /** Runs the read of a batch, such as with retries; once when absent. */
  attempt?<T>(work: () => Promise<T>): Promise<T>
}

const MAX_NAMED = 10

/** The ids of damaged documents. Each hit must include the field `frame`. */
export async function findDamaged(
  { client, index, deadlineMs, attempt = (work) => work() }: DamageOptions,
  hits: readonly ScannedHit[],
): Promise<Set<string>> {
  const damaged = new Set<string>()
  const checksummed = hits.filter((hit) => checksumHeaderOf(hit) !== undefined)
  for (const batch of documentBatches(checksummed, (hit) =>
    orderByteLength(checksumHeaderOf(hit)),
  )) {
    const docs = batch.map(({ _id, _routing = '' }) => ({ _id, routing: _routing }))
    const sources = await attempt(() =>
      readSourceBytes(client, deadlineMs, { index: nameOf(index), docs }),
    )
    for (const [at, { _id }] of batch.entries()) {
      const source = sources[at]
      if (source && !isIntactSource(source)) damaged.add(_id)
    }
  }
  return damaged
}

/** Lists the ids of damaged documents, at most ten. */
export function describeDamaged(index: string, ids: readonly string[]): string {
  const named = ids.slice(0, MAX_NAMED).join(', ')
  const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : ''
  return `documents of ${index} are not as they were written: ${named}${more}`
}

/** The next step for damaged documents of the live index. */
export const REPAIR_HINT =
  '"index check" lists all of them; "index load --repair FILE" with their source orders replaces them'

function checksumHeaderOf({ _source }: ScannedHit): unknown {
  return Object(_source)['frame']
}
