import { Unavailable } from '../../../lib/errors/unavailable.ts'
import { read } from '../client/client.ts'
import { BAD_REQUEST, FORBIDDEN, isRejectedWith } from '../client/errors.ts'
import {
  type FoundDocument,
  type IndexTarget,
  refreshIndex,
  searchPages,
} from '../client/search/document-search.ts'

/** Documents that changed, and the token for the next call. */
export interface DocumentChanges {
  /** By ascending sequence number: a document that changes during the read may appear twice. */
  documents: readonly FoundDocument[]
  token: string
}

const PREFERENCE_REFUSED = 'preference_based_search_not_allowed_exception'
const PAGE_SIZE = 1_000
/** The sequence number before the first. */
const NONE = -1

/**
 * The documents of an index that changed since the call that returned `token`, in their current
 * version. All documents for `null`, and for a token of a replaced index.
 *
 * A token is the index and its global checkpoint. Every operation up to it is on all in-sync
 * copies, so none is lost or arrives later. The greatest sequence number of a search is no such
 * bound: operations become searchable out of order, so a smaller number can appear later. Changes
 * after the checkpoint are returned too, and again by the next call. A change that OpenSearch loses
 * with a node, before it acknowledges it, stays returned until the endpoint changes again.
 *
 * A node that was cut off responds from its outdated copy, even a search of the primary. So only
 * the copy whose checkpoint becomes the token is searched. If that one is outdated, the next call
 * returns what this call missed, but for what no refresh had made searchable there.
 * @throws Unavailable
 */
export async function readChanges(
  target: IndexTarget,
  token: string | null,
): Promise<DocumentChanges> {
  const { uuid, checkpoint, node } = await readCheckpoint(target)
  const next = `${uuid}:${checkpoint}`
  if (token === next) return { documents: [], token }
  const since = parseToken(token, uuid, checkpoint)
  await refreshIndex(target) // Makes all operations up to the checkpoint searchable.
  const documents: FoundDocument[] = []
  for await (const page of searchSince(target, since, node)) documents.push(...page)
  return { documents, token: next }
}

/**
 * Searches the copy on a node for later operations. Without an upper bound: a document that was
 * rewritten after the checkpoint has no other version.
 */
async function* searchSince(target: IndexTarget, since: number, node: string) {
  const search = { query: { range: { _seq_no: { gt: since } } }, sort: [], pageSize: PAGE_SIZE }
  try {
    yield* searchPages(target, { ...search, preference: `_only_nodes:${node}` })
  } catch (error) {
    // With weighted shard routing OpenSearch accepts no node, but the primary.
    if (isRejectedWith(error, FORBIDDEN) && error.type === PREFERENCE_REFUSED) {
      yield* searchPages(target, search)
      return
    }
    if (!isRejectedWith(error, BAD_REQUEST)) throw error
    throw new Unavailable(`the primary shard of ${target.index} left its node: ${error.message}`)
  }
}

/** A checkpoint beyond the current one is of a history that the index lost. */
function parseToken(token: string | null, uuid: string, checkpoint: number): number {
  const [index, since] = token?.split(':') ?? []
  return index === uuid && Number(since) <= checkpoint ? Number(since) : NONE
}

interface StatsResponse {
  _shards?: { failed?: unknown }
  indices?: Record<string, { uuid?: unknown; shards?: Record<string, ShardStats[]> }>
}

interface ShardStats {
  routing?: { primary?: boolean; node?: unknown }
  seq_no?: { global_checkpoint?: unknown }
}

async function readCheckpoint({ client, index, deadlineMs }: IndexTarget) {
  const ofShards = ['routing', 'seq_no'].map((field) => `indices.*.shards.*.${field}`)
  const filter_path = ['_shards.failed', 'indices.*.uuid', ...ofShards]
  const request = { index, metric: 'docs', level: 'shards' as const, filter_path }
  const { _shards, indices } = (await read(deadlineMs, (options) =>
    client.indices.stats(request as object, options),
  )) as StatsResponse
  const [{ uuid, shards } = {}] = Object.values(indices ?? {})
  const primaries = Object.values(shards ?? {})
    .flat()
    .filter(({ routing }) => routing?.primary)
  const [{ routing: { node } = {}, seq_no } = {}] = primaries
  const checkpoint = seq_no?.global_checkpoint
  // A node that missed a promotion lists two primaries, or no response of the new one.
  const isCurrent = _shards?.failed === 0 && primaries.length === 1
  const isComplete = typeof uuid === 'string' && typeof checkpoint === 'number'
  if (isCurrent && isComplete && typeof node === 'string') return { uuid, checkpoint, node }
  throw new Unavailable(`the primary shard of ${index} did not return its checkpoint`)
}
