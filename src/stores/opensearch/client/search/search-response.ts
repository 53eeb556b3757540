import { Unavailable } from '../../../../lib/errors/unavailable.ts'
import type { Position } from '../../../../orders/order-store.ts'

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
 * The hits of a response from exactly one shard: the only one of an index, or the one to which an
 * account is routed.
 * @throws Unavailable when a hit may be missing, as after a timeout
 */
export function completeHits(response: SearchResponse): Hit[] {
  const hits = completeRawHits(response)
  if (hits.every(isHit)) return hits
  throw new Unavailable(MISSING_HITS)
}

/** Like {@link completeHits}, without a check of the fields of a hit. */
export function completeRawHits(response: SearchResponse): unknown[] {
  const hits = completeHitsOfAllShards(response)
  if (response._shards?.total !== 1)
    throw new Unavailable(`${respondingShards(response)}; expected one shard`)
  return hits
}

/** The hits of a search over every shard of an index. @throws Unavailable when one is missing */
export function completeHitsOfAllShards(response: SearchResponse): unknown[] {
  const { timed_out, _shards, hits } = response
  if (timed_out !== false) throw new Unavailable('OpenSearch timed out during a search')
  if (!isCompleteOverShards(_shards))
    throw new Unavailable(`${respondingShards(response)}; expected all of them`)
  if (!Array.isArray(hits?.hits)) throw new Unavailable(MISSING_HITS)
  return hits.hits
}

/**
 * Whether every shard contributed to a response. A shard without an active copy is missing from
 * `successful` and is not counted in `failed`.
 */
export function isCompleteOverShards(shards: SearchResponse['_shards']): boolean {
  const { total, successful, failed } = shards ?? {}
  return Number(total) >= 1 && successful === total && failed === 0
}

function respondingShards({ _shards }: SearchResponse): string {
  const { total, successful, failed } = _shards ?? {}
  return `OpenSearch responded from the shards ${JSON.stringify({ total, successful, failed })}`
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
