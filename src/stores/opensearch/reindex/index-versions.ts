import { type OpenSearch, read, write } from '../client/client.ts'
import { isIndexExistsError } from '../client/errors.ts'
import { concreteIndex, type IndexNames, indexVersion } from '../index-names.ts'
import { NO_TOMBSTONES } from '../tombstone.ts'

export interface IndexVersionsOptions {
  client: OpenSearch
  names: IndexNames
  /** For each request, the answer's body included. */
  deadlineMs: number
}

/** The indices behind the alias of the orders, one a version. */
export interface IndexVersions {
  /** Makes an empty one by the template, so with the mapping of today. @throws Error when it is there */
  create(index: string): Promise<void>
  /** A copy that comes late goes nowhere from here on. */
  removeCopyAlias(index: string): Promise<void>
  /** Those above this one. */
  newerThan(index: string): Promise<readonly string[]>
  /** The one that is read. */
  liveIndex(): Promise<string>
  /** Gives the alias to an index where none has it. */
  restoreLiveAlias(index: string): Promise<void>
  /** Also where it is gone already. */
  remove(index: string): Promise<void>
  refresh(index: string): Promise<void>
  /** Documents of an index; with a query those that it finds. */
  count(index: string, query?: object): Promise<number>
}

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
          `${index} is there and nothing feeds it: another reindex is just beginning, or one ended as it began. Look at "index status"; "index reindex --rollback" removes it`,
          { cause: error },
        )
      }
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
        `expected the alias ${names.orders} over one index; it is over ${Object.keys(aliases).join(', ') || 'none'}`,
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
      await read(deadlineMs, (call) => client.indices.refresh({ index }, call))
    },

    async count(index, query = NO_TOMBSTONES) {
      const body: object = { query }
      const { count } = await read(deadlineMs, (call) => client.count({ index, body }, call))
      return count
    },
  }
}
