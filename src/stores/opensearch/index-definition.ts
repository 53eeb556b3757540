import type { IndexNames } from './index-names.ts'

const KEYWORD = { type: 'keyword' }
const LONG = { type: 'long' }
const NOT_INDEXED = { ...KEYWORD, index: false, doc_values: false }

/** A copy on another node where there is one, so that the loss of a node loses nothing. */
const ONE_SHARD = { number_of_shards: 1, auto_expand_replicas: '0-1' }

/**
 * What is read by read calls, and not as mapped memory: the default without `fdt` and `fdx`, the sources. Every
 * hit of a page is read from those, so a page costs OpenSearch a seventh less: `npm run -s bench -- --only
 * settings`. Where mapped memory is not allowed all is read by calls, whatever this says.
 */
const NIO_EXTENSIONS = [
  ...['segments_N', 'write.lock', 'si', 'cfe', 'fnm', 'pos', 'pay', 'nvm', 'dvm'],
  ...['tvx', 'tvd', 'liv', 'dii', 'vem'],
]

/** Written now and then, and read by id, so a search may wait for nothing and find what was just written. */
const SMALL_INDEX = { ...ONE_SHARD, refresh_interval: '200ms' }

/**
 * One document an order and account. Sorted by account, so that an account's documents lie together and
 * both sorts of the API skip by their keys. A key behind it makes one sort three times as cheap and the
 * other three times as dear, once segments are merged: `npm run -s bench -- --only definitions --merged`. The order itself is stored and never parsed: no tracking key
 * of a buyer can blow up the mapping.
 */
export const ordersDefinition = {
  settings: {
    ...ONE_SHARD,
    refresh_interval: '1s', // Unset, a shard that nobody searches stops refreshing.
    'requests.cache.enable': false,
    // Else a refresh waits for the merges of a flush, and with it every reader of what was just written.
    'merge_on_flush.enabled': false,
    'store.hybrid.nio.extensions': NIO_EXTENSIONS,
    'sort.field': 'account_id',
    'sort.order': 'asc',
  },
  mappings: {
    dynamic: 'strict',
    _routing: { required: true },
    properties: {
      frame: NOT_INDEXED,
      account_id: KEYWORD,
      id: KEYWORD,
      shape: { type: 'integer' },
      status: KEYWORD,
      payment_method: KEYWORD,
      created_key: LONG,
      updated_key: LONG,
      written_key: LONG,
      removed_key: LONG, // Of a tombstone alone, which has no other field.
      order: { type: 'object', enabled: false },
    },
  },
} as const

/** Read by id alone, so nothing in it is searched. */
const byIdDefinition = {
  settings: { ...ONE_SHARD, refresh_interval: '30s' },
  mappings: { enabled: false },
} as const

const keysDefinition = {
  settings: SMALL_INDEX,
  mappings: {
    dynamic: 'strict',
    properties: {
      key_id: KEYWORD,
      account_id: KEYWORD,
      scopes: KEYWORD,
      name: NOT_INDEXED,
      last_four: KEYWORD,
      created_at: LONG,
      life_ms: LONG,
      expires_at: LONG,
      revoked_at: LONG,
      last_valid_at: LONG,
    },
  },
} as const

const accountsDefinition = {
  settings: SMALL_INDEX,
  mappings: { dynamic: 'strict', properties: { blocked: { type: 'boolean' } } },
} as const

/** How the indices of version records and of the lease are made, each behind its alias. */
export function recordDefinitions(names: IndexNames): Definitions {
  return [
    [names.heads, byIdDefinition],
    [names.writer, byIdDefinition],
  ]
}

/** The same of keys and accounts. */
export function keyDefinitions(names: IndexNames): Definitions {
  return [
    [names.keys, keysDefinition],
    [names.accounts, accountsDefinition],
  ]
}

type Definitions = readonly [alias: string, definition: object][]
