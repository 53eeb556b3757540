import { hasAlias, readAliases } from '../client/aliases.ts'
import { type OpenSearch, read, write } from '../client/client.ts'
import { NO_TOMBSTONES } from '../client/documents/tombstone.ts'
import { isIndexExistsError } from '../client/errors.ts'
import { countDocuments, readCreation, readShardCount, refreshIndices } from '../client/shards.ts'
import { versionRecordsDefinition, withShards } from '../indices/index-definition.ts'
import { concreteIndex, type IndexNames, indexVersion } from '../indices/index-names.ts'

export interface IndexVersionsOptions {
  client: OpenSearch
  names: IndexNames
  /** For each request, the response body included. */
  deadlineMs: number
}

/** A version of the orders index, or of the version records. */
export interface IndexVersion {
  index: string
  hasAlias: boolean
  /** Whether it has an alias that the next fence removes. */
  hasFencedAlias: boolean
}

/** The versions of the orders index and their aliases. */
export interface IndexVersions {
  /**
   * Creates an empty index with the current template. @throws Error when it exists, or a primary
   * shard does not start
   */
  create(index: string, shards: number): Promise<void>
  /** The same for an index of version records. */
  createVersionRecords(index: string, shards: number): Promise<void>
  /** The number of primary shards. */
  shards(index: string): Promise<number>
  /** When the index was created, epoch milliseconds of the cluster's clock. */
  createdAt(index: string): Promise<number>
  exists(index: string): Promise<boolean>
  hasCopyAlias(index: string): Promise<boolean>
  addCopyAlias(index: string): Promise<void>
  /** From here on OpenSearch rejects a late copy. */
  removeCopyAlias(index: string): Promise<void>
  /** The versions above this one, of the orders index or of the version records. */
  newerThan(index: string): Promise<readonly string[]>
  /** The versions below this one, of the orders index or of the version records. */
  olderThan(index: string): Promise<readonly IndexVersion[]>
  /** The index behind the read alias. */
  liveIndex(): Promise<string>
  /** Adds the read alias to an index. */
  restoreLiveAlias(index: string): Promise<void>
  /** Succeeds also when the index is missing. */
  remove(index: string): Promise<void>
  refresh(index: string): Promise<void>
  /** The number of documents that match `query`; of all but tombstones when absent. */
  count(index: string, query?: object): Promise<number>
}

/**
 * Creates the operations of a reindex on the versions of the orders index. A call throws
 * Unavailable, or Error when OpenSearch rejects it.
 */
export function createIndexVersions({
  client,
  names,
  deadlineMs,
}: IndexVersionsOptions): IndexVersions {
  async function create(index: string, definition: object): Promise<void> {
    const body = { ...definition, aliases: { [names.copyAlias(index)]: {} } }
    // Shorter than the deadline, so that OpenSearch reports a shard without a node.
    const waitMs = Math.ceil(deadlineMs / 2)
    const request = { index, body, timeout: `${waitMs}ms` }
    const next = `"index reindex --rollback", which removes ${index}, then "index reindex" again`
    let isAcknowledged: boolean
    try {
      const created = await write(deadlineMs, (call) => client.indices.create(request, call))
      if (created.shards_acknowledged) return
      isAcknowledged = created.acknowledged
    } catch (error) {
      if (!isIndexExistsError(error)) throw error
      throw new Error(
        `${index} exists and no writer writes to it: another reindex is starting, or one was interrupted. Check "index status"; "index reindex --rollback" removes it`,
        { cause: error },
      )
    }
    // As a write target it would stop every write. Without all nodes, OpenSearch awaits no shard.
    throw new Error(
      isAcknowledged
        ? `OpenSearch has not started every primary shard of ${index} in ${waitMs / 1000} s, and no writer writes to it: GET _cluster/allocation/explain names the reason. Remove that, and run ${next}`
        : `a node of OpenSearch did not acknowledge ${index} in ${waitMs / 1000} s, and no writer writes to it: once every node responds, run ${next}`,
    )
  }

  /** All versions of the orders index, or of the version records. */
  async function versionsOf(index: string): Promise<IndexVersion[]> {
    const alias = names.isVersion(index) ? names.orders : names.versionRecords
    const indices = await read(deadlineMs, (call) =>
      client.indices.get({ index: concreteIndex(alias, '*') }, call),
    )
    return Object.entries(indices)
      .filter(([other]) => other === concreteIndex(alias, indexVersion(other)))
      .map(([other, { aliases = {} }]) => {
        const all = Object.keys(aliases)
        return { index: other, hasAlias: all.length > 0, hasFencedAlias: all.some(names.isFenced) }
      })
  }

  return {
    create: (index, shards) => create(index, withShards({}, shards)),
    createVersionRecords: (index, shards) => create(index, versionRecordsDefinition(shards)),
    shards: (index) => readShardCount(client, deadlineMs, index),
    createdAt: (index) => readCreation(client, deadlineMs, index),

    hasCopyAlias: (index) => hasAlias(client, deadlineMs, names.copyAlias(index)),

    exists: async (index) => (await versionsOf(index)).some((other) => other.index === index),

    async addCopyAlias(index) {
      const add = { index, alias: names.copyAlias(index) }
      await write(deadlineMs, (call) =>
        client.indices.updateAliases({ body: { actions: [{ add }] } }, call),
      )
    },

    async removeCopyAlias(index) {
      const remove = { index, alias: names.copyAlias(index), must_exist: false }
      await write(deadlineMs, (call) =>
        client.indices.updateAliases({ body: { actions: [{ remove }] } }, call),
      )
    },

    async newerThan(index) {
      const all = (await versionsOf(index)).map((other) => other.index)
      return all.filter((other) => indexVersion(other) > indexVersion(index))
    },

    async olderThan(index) {
      // The service creates versions from 1.
      return (await versionsOf(index)).filter(
        (other) => indexVersion(other.index) > 0 && indexVersion(other.index) < indexVersion(index),
      )
    },

    async liveIndex() {
      const found = Object.keys(await readAliases(client, deadlineMs, [names.orders]))
      const [index, ...others] = found
      if (index !== undefined && others.length === 0) return index
      throw new Error(
        `expected the alias ${names.orders} on one index; found it on ${found.join(', ') || 'none'}`,
      )
    },

    async restoreLiveAlias(index) {
      const add = { index, alias: names.orders }
      await write(deadlineMs, (call) =>
        client.indices.updateAliases({ body: { actions: [{ add }] } }, call),
      )
    },

    async remove(index) {
      const request = { index, ignore_unavailable: true }
      await write(deadlineMs, (call) => client.indices.delete(request, call))
    },

    async refresh(index) {
      await refreshIndices(client, deadlineMs, [index])
    },

    async count(index, query = NO_TOMBSTONES) {
      return countDocuments(client, deadlineMs, index, { query })
    },
  }
}
