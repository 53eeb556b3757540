import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect } from 'vitest'
import {
  connectOpenSearch,
  type OpenSearch,
} from '../../../../src/stores/opensearch/client/client.ts'
import { opensearch } from '../../../support/stores/backend.ts'
import { GENEROUS_MS } from '../../../support/stores/scripted/scripted-nodes.ts'

/** The keys of a document without an order. */
export interface StoredKeys {
  account: string
  order: string
  writtenKey?: number
  /** Its account and order id by default. */
  id?: string
}

type Name = 'from' | 'to'

/** The number of shards of each index. */
const SHARDS: Record<Name, number> = { from: 1, to: 3 }
const properties = {
  account_id: { type: 'keyword' },
  id: { type: 'keyword' },
  written_key: { type: 'long' },
  removed_key: { type: 'long' },
}

/** Registers hooks that create two empty indices before each test, and remove them after it. */
export function useTwoIndices() {
  let client: OpenSearch
  let prefix: string
  beforeEach(async () => {
    client = connectOpenSearch({ urls: (process.env['OPENSEARCH_URL'] ?? '').split(',') })
    prefix = `test-${randomBytes(6).toString('hex')}-`
    for (const [name, shards] of Object.entries(SHARDS)) {
      // Only an explicit refresh makes a write searchable.
      const settings = {
        number_of_shards: shards,
        number_of_replicas: 0,
        refresh_interval: -1,
      }
      const aliases = { [`${prefix}${name}-copy`]: {} }
      await opensearch('PUT', `${prefix}${name}`, { settings, aliases, mappings: { properties } })
    }
  })
  afterEach(async () => {
    await client.close()
    for (const name of Object.keys(SHARDS)) await opensearch('DELETE', `${prefix}${name}`)
  })

  return {
    /** What a comparison of the two indices needs. */
    get options() {
      return {
        client,
        deadlineMs: GENEROUS_MS,
        from: `${prefix}from`,
        to: `${prefix}to`,
        alias: `${prefix}to-copy`,
        onDelay() {},
        async prepareRetry() {},
        aliasOf: (index: string) => index,
        epoch: () => 0,
      }
    },

    /** Stores documents, whose write timestamp is their version and 1 by default. */
    async store(name: Name, documents: readonly StoredKeys[], refresh = true): Promise<void> {
      if (documents.length === 0) return
      const body = documents.flatMap(({ account, order, writtenKey = 1, id }) => [
        {
          index: {
            _id: id ?? `${account}:${order}`,
            routing: account,
            version: writtenKey,
            version_type: 'external',
          },
        },
        { account_id: account, id: order, written_key: writtenKey },
      ])
      const { body: result } = await client.bulk({ index: `${prefix}${name}`, refresh, body })
      expect(result.errors).toBe(false)
    },

    /** How many documents were read by id. */
    async gets(name: Name): Promise<number> {
      const { _all } = await opensearch<{ _all: { primaries: { get: { total: number } } } }>(
        'GET',
        `${prefix}${name}/_stats/get`,
      )
      return _all.primaries.get.total
    },

    /** The sorted ids of the documents of an index that have an order id. */
    async ids(name: Name): Promise<string[]> {
      await opensearch('POST', `${prefix}${name}/_refresh`)
      const { hits } = await opensearch<{ hits: { hits: { _id: string }[] } }>(
        'GET',
        `${prefix}${name}/_search?size=1000&sort=id&q=_exists_:id`,
      )
      return hits.hits.map(({ _id }) => _id)
    },
  }
}
