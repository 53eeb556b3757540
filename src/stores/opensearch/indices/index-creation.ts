import { Unavailable } from '../../../lib/errors/unavailable.ts'
import { hasAlias } from '../client/aliases.ts'
import { type OpenSearch, read, write } from '../client/client.ts'
import { BAD_REQUEST, isIndexExistsError, isRejectedWith } from '../client/errors.ts'
import type { Definitions, MappedDefinition } from './index-definition.ts'
import { concreteIndex } from './index-names.ts'

/** Creates and extends indices. A call throws Unavailable, or RequestRejectedError. */
export interface IndexCreation {
  /** Returns `false` when the index exists. */
  createIndex(index: string, aliases: readonly string[], definition: object): Promise<boolean>
  /**
   * Creates the first version of an index unless its alias exists.
   * @throws Unavailable when the index exists without its alias, unless `mayLackAlias` is set
   */
  createMissing(
    alias: string,
    definition: object,
    options?: { mayLackAlias?: boolean },
  ): Promise<void>
  /** Adds new fields to existing indices. A field of another type needs a reindex. */
  addFields(
    pattern: string,
    definition: MappedDefinition,
    isIncluded?: (index: string) => boolean,
  ): Promise<void>
  /** Creates or extends each: an index of an earlier release may lack fields. */
  createOrExtend(definitions: Definitions): Promise<void>
}

export interface IndexCreationOptions {
  client: OpenSearch
  /** For each request, the response body included. */
  deadlineMs: number
}

/** Returns the operations on the indices of one cluster. */
export function createIndexCreation({ client, deadlineMs }: IndexCreationOptions): IndexCreation {
  async function createIndex(
    index: string,
    aliases: readonly string[],
    definition: object,
  ): Promise<boolean> {
    const entries = aliases.map((alias) => [alias, {}])
    const body = { ...definition, aliases: Object.fromEntries(entries) }
    try {
      await write(deadlineMs, (options) => client.indices.create({ index, body }, options))
      return true
    } catch (error) {
      if (!isIndexExistsError(error)) throw error // Otherwise another process created it first.
      return false
    }
  }

  async function createMissing(
    alias: string,
    definition: object,
    { mayLackAlias = false } = {},
  ): Promise<void> {
    if (await hasAlias(client, deadlineMs, alias)) return
    const index = concreteIndex(alias, 1)
    if (await createIndex(index, [alias], definition)) return
    if (mayLackAlias || (await hasAlias(client, deadlineMs, alias))) return
    throw new Unavailable(`${index} exists without its alias ${alias}: add it with POST _aliases`)
  }

  async function addFields(
    pattern: string,
    { mappings: { properties } }: MappedDefinition,
    isIncluded: (index: string) => boolean = () => true,
  ): Promise<void> {
    const existing = await read(deadlineMs, (options) =>
      client.indices.get({ index: pattern }, options),
    )
    for (const [index, { mappings }] of Object.entries(existing)) {
      if (!isIncluded(index)) continue
      const mapped = new Set(Object.keys(mappings?.properties ?? {}))
      const missing = Object.entries(properties).filter(([name]) => !mapped.has(name))
      if (missing.length === 0) continue
      const request = { index, body: { properties: Object.fromEntries(missing) } as object }
      await write(deadlineMs, (options) => client.indices.putMapping(request, options)).catch(
        (error) => {
          if (!isRejectedWith(error, BAD_REQUEST)) throw error
        },
      )
    }
  }

  return {
    createIndex,
    createMissing,
    addFields,
    async createOrExtend(definitions) {
      await Promise.all(
        definitions.map(async ([alias, definition]) => {
          await createMissing(alias, definition)
          await addFields(alias, definition)
        }),
      )
    },
  }
}
