import type { OpenSearch } from './client.ts'
import type { WalkedHit } from './document-walk.ts'
import { readSourceBytes } from './documents.ts'
import { isAsWritten } from './order-source.ts'

export interface DamageOptions {
  client: OpenSearch
  index: string
  /** For each request, the answer's body included. */
  deadlineMs: number
  /** How a group of documents is read; once when absent. */
  attempt?<T>(work: () => Promise<T>): Promise<T>
}

/** What is read at once; an order may have megabytes, and its frame tells how many. */
const GROUP = { documents: 500, bytes: 4 * 1024 * 1024 }
const MAX_NAMED = 10

/** The ids of the hits that are not as they were written. Each has to come with its field `frame`. */
export async function findDamaged(
  { client, index, deadlineMs, attempt = (work) => work() }: DamageOptions,
  hits: readonly WalkedHit[],
): Promise<Set<string>> {
  const damaged = new Set<string>()
  const framed = hits.filter((hit) => frameOf(hit) !== undefined)
  for (const group of groupsOf(framed)) {
    const docs = group.map(({ _id, _routing = '' }) => ({ _id, routing: _routing }))
    const sources = await attempt(() => readSourceBytes(client, deadlineMs, { index, docs }))
    for (const [at, { _id }] of group.entries()) {
      const source = sources[at]
      if (source && !isAsWritten(source)) damaged.add(_id)
    }
  }
  return damaged
}

/** Names damaged documents, the first ten of them. */
export function tellDamaged(index: string, ids: readonly string[]): string {
  const named = ids.slice(0, MAX_NAMED).join(', ')
  const more = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : ''
  return `documents of ${index} are not as they were written: ${named}${more}`
}

/** What to do about damaged documents of the index that is read. */
export const REPAIR =
  '"index check" lists all of them; "index load --repair FILE" with their source orders writes them anew'

function frameOf({ _source }: WalkedHit): unknown {
  return Object(_source)['frame']
}

function* groupsOf(hits: readonly WalkedHit[]): Generator<WalkedHit[]> {
  let group: WalkedHit[] = []
  let bytes = 0
  for (const hit of hits) {
    const size = orderBytes(frameOf(hit))
    if (group.length === GROUP.documents || (group.length > 0 && bytes + size > GROUP.bytes)) {
      yield group
      group = []
      bytes = 0
    }
    group.push(hit)
    bytes += size
  }
  if (group.length > 0) yield group
}

/** How long the order is by its frame. */
function orderBytes(frame: unknown): number {
  const [, hex = '0'] = /-([0-9a-f]{8})$/.exec(String(frame)) ?? []
  return Number.parseInt(hex, 16)
}
