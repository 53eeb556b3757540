import { Unavailable } from '../../../lib/unavailable.ts'
import type { Position } from '../../../orders/order-store.ts'

/** What OpenSearch answers to a search, as far as anything here relies on it. */
export interface SearchResponse {
  timed_out?: unknown
  _shards?: { total?: unknown; successful?: unknown; failed?: unknown }
  hits?: { hits?: unknown }
}

export interface Hit {
  _id: string
  sort: [key: number, id: string]
  _source?: unknown
}

/**
 * The hits of an answer that is whole: of the one shard there is, in time.
 * @throws Unavailable when anything may be missing from it
 */
export function completeHits(response: SearchResponse): Hit[] {
  const hits = completeRawHits(response)
  if (hits.every(isHit)) return hits
  throw new Unavailable(MISSING_HITS)
}

/** The same, whatever was asked of a hit. */
export function completeRawHits({ timed_out, _shards, hits }: SearchResponse): unknown[] {
  if (timed_out !== false) throw new Unavailable('OpenSearch ran out of time')
  const { total, successful, failed } = _shards ?? {}
  if (total !== 1 || successful !== 1 || failed !== 0) {
    const shards = JSON.stringify({ total, successful, failed })
    throw new Unavailable(
      `OpenSearch answered from the shards ${shards}; expected the one there is`,
    )
  }
  if (!Array.isArray(hits?.hits)) throw new Unavailable(MISSING_HITS)
  return hits.hits
}

const MISSING_HITS = 'OpenSearch answered without the hits that were asked for'

/** Where a hit stands in the sort. */
export function positionOf({ sort: [key, id] }: Hit): Position {
  return { key, id }
}

function isHit(hit: unknown): hit is Hit {
  const { sort } = Object(hit) as Partial<Hit>
  const [key, id] = Array.isArray(sort) ? sort : []
  return Number.isSafeInteger(key) && typeof id === 'string'
}
