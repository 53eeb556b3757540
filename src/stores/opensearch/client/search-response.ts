import { Unavailable } from '../../../lib/unavailable.ts'
import type { Position } from '../../../orders/order-store.ts'

/** The fields of a search response that this module reads. */
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
 * The hits of a complete response: no timeout, and an answer from the only shard.
 * @throws Unavailable when a hit may be missing
 */
export function completeHits(response: SearchResponse): Hit[] {
  const hits = completeRawHits(response)
  if (hits.every(isHit)) return hits
  throw new Unavailable(MISSING_HITS)
}

/** Like {@link completeHits}, without a check of the fields of a hit. */
export function completeRawHits({ timed_out, _shards, hits }: SearchResponse): unknown[] {
  if (timed_out !== false) throw new Unavailable('OpenSearch timed out during a search')
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

const MISSING_HITS = 'the search response of OpenSearch has no valid hits'

/** The sort position of a hit. */
export function positionOf({ sort: [key, id] }: Hit): Position {
  return { key, id }
}

function isHit(hit: unknown): hit is Hit {
  const { sort } = Object(hit) as Partial<Hit>
  const [key, id] = Array.isArray(sort) ? sort : []
  return Number.isSafeInteger(key) && typeof id === 'string'
}
