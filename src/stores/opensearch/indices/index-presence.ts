import { IndexLost } from '../../index-lost.ts'
import { hasAlias } from '../client/aliases.ts'
import { type OpenSearch, read } from '../client/client.ts'
import { concreteIndex, type IndexNames, indexVersion } from './index-names.ts'

/** Whether the orders index exists, in one state of the cluster. */
export interface IndexPresence {
  /**
   * `present`: the alias has an index. `never-created`: no index exists. `lost`: version records or
   * the lease exist without the alias.
   */
  kind: 'present' | 'never-created' | 'lost'
  /** Indices of version records and of the lease. */
  records: readonly string[]
  /** Versions of the orders index, with or without the alias. */
  versions: readonly string[]
  /** Whether a version of the version records has their alias. */
  hasVersionRecords: boolean
}

export interface PresenceOptions {
  client: OpenSearch
  names: IndexNames
  /** For each request, the response body included. */
  deadlineMs: number
}

/**
 * Reads the cluster state, so the result depends on no refresh. The orders index is created before
 * the records, so records without it are never an unfinished start.
 * @throws Unavailable
 */
export async function readPresence({
  client,
  names,
  deadlineMs,
}: PresenceOptions): Promise<IndexPresence> {
  const index = [names.orders, names.versionRecords, names.writer].map((alias) =>
    concreteIndex(alias, '*'),
  )
  const aliases = await read(deadlineMs, (options) =>
    client.indices.getAlias({ index, expand_wildcards: 'all' }, options),
  )
  const isRecord = (name: string) =>
    [names.versionRecords, names.writer].some(
      (alias) => name === concreteIndex(alias, indexVersion(name)),
    )
  const found = {
    records: Object.keys(aliases).filter(isRecord),
    versions: Object.keys(aliases).filter(names.isVersion),
    hasVersionRecords: Object.values(aliases).some(
      ({ aliases }) => names.versionRecords in aliases,
    ),
  }
  const hasLiveAlias =
    Object.values(aliases).some(({ aliases }) => names.orders in aliases) ||
    // The alias may be on an index of another name, such as a restored one.
    (await hasAlias(client, deadlineMs, names.orders))
  if (hasLiveAlias) return { kind: 'present', ...found }
  return { kind: found.records.length > 0 ? 'lost' : 'never-created', ...found }
}

/** The error for a lost index, with the ways to restore it. */
export function indexLostError(
  { orders }: Pick<IndexNames, 'orders'>,
  { records, versions }: IndexPresence,
): IndexLost {
  const lost = `there is no alias ${orders}, and ${records.join(' and ')} remember what was in it`
  if (versions.length === 0) return new IndexLost(lost)
  return new IndexLost(
    lost,
    `Without that alias there are: ${versions.join(' and ')}: "index reindex --rollback" makes a former write target live, and POST _aliases adds the alias to a complete index. `,
  )
}
