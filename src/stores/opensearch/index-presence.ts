import { IndexLost } from '../index-lost.ts'
import { type OpenSearch, read } from './client/client.ts'
import { concreteIndex, type IndexNames, indexVersion } from './index-names.ts'

/** Whether the index of the orders exists, in one state of the cluster. */
export interface IndexPresence {
  /**
   * `present`: the alias leads to an index. `never-created`: neither it nor what is made after it exists. `lost`: version
   * records or the writer's lease exist, and the alias does not.
   */
  kind: 'present' | 'never-created' | 'lost'
  /** Indices of version records and of the lease. */
  records: readonly string[]
  /** Versions of the orders' index, with the alias or without it. */
  versions: readonly string[]
}

export interface PresenceOptions {
  client: OpenSearch
  names: IndexNames
  /** For each request, the answer's body included. */
  deadlineMs: number
}

/**
 * Reads it from the cluster manager, which decides about indices: no refresh and no timing is part of the answer.
 * The orders' index is made first and the records after it, so records without it are never an unfinished start.
 * @throws Unavailable
 */
export async function readPresence({
  client,
  names,
  deadlineMs,
}: PresenceOptions): Promise<IndexPresence> {
  const index = [names.orders, names.heads, names.writer].map((alias) => concreteIndex(alias, '*'))
  const aliases = await read(deadlineMs, (options) =>
    client.indices.getAlias({ index, expand_wildcards: 'all' }, options),
  )
  const isRecord = (name: string) =>
    [names.heads, names.writer].some((alias) => name === concreteIndex(alias, indexVersion(name)))
  const found = {
    records: Object.keys(aliases).filter(isRecord),
    versions: Object.keys(aliases).filter(names.isVersion),
  }
  const hasLiveAlias =
    Object.values(aliases).some(({ aliases }) => names.orders in aliases) ||
    // The alias may lead to an index of another name, such as one that was restored.
    (await read(deadlineMs, (options) =>
      client.indices.existsAlias({ name: names.orders }, options),
    ))
  if (hasLiveAlias) return { kind: 'present', ...found }
  return { kind: found.records.length > 0 ? 'lost' : 'never-created', ...found }
}

/** What to tell of a loss. */
export function indexLostError(
  { orders }: Pick<IndexNames, 'orders'>,
  { records, versions }: IndexPresence,
): IndexLost {
  const lost = `there is no alias ${orders}, and ${records.join(' and ')} remember what was in it`
  if (versions.length === 0) return new IndexLost(lost)
  return new IndexLost(
    lost,
    `Without that alias there is ${versions.join(' and ')}: "index reindex --rollback" reads one that was fed beside the lost one, and POST _aliases adds the alias to one that is whole. `,
  )
}
