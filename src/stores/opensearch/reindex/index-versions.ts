import { type OpenSearch, read, write } from '../client/client.ts'
import { isIndexExistsError } from '../client/errors.ts'
import { countDocuments, refreshIndices } from '../client/shards.ts'
import { concreteIndex, type IndexNames, indexVersion } from '../index-names.ts'
import { NO_TOMBSTONES } from '../tombstone.ts'

export interface IndexVersionsOptions {
  client: OpenSearch
  names: IndexNames
  /** For each request, the response body included. */
  deadlineMs: number
}

/** The versions of the orders index and their aliases. */
export interface IndexVersions {
  /** Creates an empty index with the current template. @throws Error when it exists */
  create(index: string): Promise<void>
  hasCopyAlias(index: string): Promise<boolean>
  /** From here on OpenSearch rejects a late copy. */
  removeCopyAlias(index: string): Promise<void>
  /** The versions above this one. */
  newerThan(index: string): Promise<readonly string[]>
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
  return {
    async create(index) {
      const body = { aliases: { [names.copyAlias(index)]: {} } }
      try {
        await write(deadlineMs, (call) => client.indices.create({ index, body }, call))
      } catch (error) {
        if (!isIndexExistsError(error)) throw error
        throw new Error(
          `${index} exists and no writer writes to it: another reindex is starting, or one was interrupted. Check "index status"; "index reindex --rollback" removes it`,
          { cause: error },
        )
      }
    },

    hasCopyAlias(index) {
      return read(deadlineMs, (call) =>
        client.indices.existsAlias({ index, name: names.copyAlias(index) }, call),
      )
    },

    async removeCopyAlias(index) {
      const remove = { index, alias: names.copyAlias(index), must_exist: false }
      await write(deadlineMs, (call) =>
        client.indices.updateAliases({ body: { actions: [{ remove }] } }, call),
      )
    },

    async newerThan(index) {
      const indices = await read(deadlineMs, (call) =>
        client.indices.get({ index: concreteIndex(names.orders, '*') }, call),
      )
      return Object.keys(indices).filter((other) => {
        return names.isVersion(other) && indexVersion(other) > indexVersion(index)
      })
    },

    async liveIndex() {
      const aliases = await read(deadlineMs, (call) =>
        client.indices.getAlias({ name: names.orders }, call),
      )
      const [index, ...others] = Object.keys(aliases)
      if (index !== undefined && others.length === 0) return index
      throw new Error(
        `expected the alias ${names.orders} on one index; found it on ${Object.keys(aliases).join(', ') || 'none'}`,
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
