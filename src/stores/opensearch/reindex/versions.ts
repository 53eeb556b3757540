import { ask, type OpenSearch, Refused, tell } from '../client.ts'
import { type IndexNames, indexBehind, versionOf } from '../names.ts'
import { NO_TOMBSTONES } from '../tombstone.ts'

export interface VersionsOptions {
  client: OpenSearch
  names: IndexNames
  /** For each request, the answer's body included. */
  deadlineMs: number
}

/** The indices behind the alias of the orders, one a version. */
export interface Versions {
  /** Makes an empty one by the template, so with the mapping of today. @throws Error when it is there */
  create(index: string): Promise<void>
  /** A copy that comes late goes nowhere from here on. */
  closeToCopies(index: string): Promise<void>
  /** Those above this one. */
  newerThan(index: string): Promise<readonly string[]>
  /** The one that is read. */
  read(): Promise<string>
  /** Gives the alias to an index where none has it. */
  readInstead(index: string): Promise<void>
  /** Also where it is gone already. */
  remove(index: string): Promise<void>
  refresh(index: string): Promise<void>
  /** Documents of an index; with a query those that it finds. */
  count(index: string, query?: object): Promise<number>
}

const ALREADY_THERE = 'resource_already_exists_exception'

export function createVersions({ client, names, deadlineMs }: VersionsOptions): Versions {
  return {
    async create(index) {
      const body = { aliases: { [names.copyAlias(index)]: {} } }
      try {
        await tell(deadlineMs, (call) => client.indices.create({ index, body }, call))
      } catch (error) {
        if (!(error instanceof Refused && error.type === ALREADY_THERE)) throw error
        throw new Error(
          `${index} is there and nothing feeds it: another reindex is just beginning, or one ended as it began. Look at "index status"; "index reindex --rollback" removes it`,
          { cause: error },
        )
      }
    },

    async closeToCopies(index) {
      const remove = { index, alias: names.copyAlias(index), must_exist: false }
      await tell(deadlineMs, (call) =>
        client.indices.updateAliases({ body: { actions: [{ remove }] } }, call),
      )
    },

    async newerThan(index) {
      const there = await ask(deadlineMs, (call) =>
        client.indices.get({ index: indexBehind(names.orders, '*') }, call),
      )
      return Object.keys(there).filter((other) => {
        return names.isVersion(other) && versionOf(other) > versionOf(index)
      })
    },

    async read() {
      const there = await ask(deadlineMs, (call) =>
        client.indices.getAlias({ name: names.orders }, call),
      )
      const [index, ...others] = Object.keys(there)
      if (index !== undefined && others.length === 0) return index
      throw new Error(
        `expected the alias ${names.orders} over one index; it is over ${Object.keys(there).join(', ') || 'none'}`,
      )
    },

    async readInstead(index) {
      const add = { index, alias: names.orders }
      await tell(deadlineMs, (call) =>
        client.indices.updateAliases({ body: { actions: [{ add }] } }, call),
      )
    },

    async remove(index) {
      const request = { index, ignore_unavailable: true }
      await tell(deadlineMs, (call) => client.indices.delete(request, call))
    },

    async refresh(index) {
      await ask(deadlineMs, (call) => client.indices.refresh({ index }, call))
    },

    async count(index, query = NO_TOMBSTONES) {
      const body: object = { query }
      const { count } = await ask(deadlineMs, (call) => client.count({ index, body }, call))
      return count
    },
  }
}
