import { type FilterColumn, markerFields } from '../../../orders/filters/filter-generations.ts'
import type { IndexNames } from './index-names.ts'

export const KEYWORD = { type: 'keyword' }
export const LONG = { type: 'long' }
/** Searched for a whole value, and never sorted. */
const LOOKUP = { ...KEYWORD, doc_values: false }
export const NOT_INDEXED = { ...KEYWORD, index: false, doc_values: false }

/** Absent in a document of an earlier release. */
const FILTER_FIELDS = {
  paid_key: LONG,
  customer_email: LOOKUP,
  customer_document: LOOKUP,
  product_ids: LOOKUP,
} as const satisfies Record<FilterColumn, object>
const MARKERS = Object.fromEntries(markerFields.map((field) => [field, LONG]))

/**
 * With a replica on a second node if there is one, so that the loss of a node loses no data. The
 * indices of orders and version records are created with `ORDERS_SHARDS` instead.
 */
const ONE_SHARD = { number_of_shards: 1, auto_expand_replicas: '0-1' }

/**
 * File types read by system calls instead of memory maps: the default without `fdt` and `fdx`, the
 * stored sources. A page reads every hit from those, so mapping them makes it a seventh cheaper for
 * OpenSearch (`npm run -s bench -- --only settings`). No effect where memory maps are disabled.
 */
const NIO_EXTENSIONS = [
  ...['segments_N', 'write.lock', 'si', 'cfe', 'fnm', 'pos', 'pay', 'nvm', 'dvm'],
  ...['tvx', 'tvd', 'liv', 'dii', 'vem'],
]

/**
 * The definition of an index with these fields alone, in one shard. Its documents are rarely
 * written and read by id, so a short refresh interval is cheap.
 */
export function smallIndex(properties: object) {
  const settings = { ...ONE_SHARD, refresh_interval: '200ms' }
  return { settings, mappings: { dynamic: 'strict', properties } }
}

/**
 * One document for each order and account. The index sort by account keeps an account's documents
 * together, and both sorts of the API skip by their keys. A second sort field would make one API
 * sort three times as cheap and the other three times as expensive. The order is stored without
 * parsing, so tracking keys of buyers cannot grow the mapping.
 * `npm run -s bench -- --only definitions --merged` measures the sort fields.
 */
export const ordersDefinition = {
  settings: {
    ...ONE_SHARD,
    refresh_interval: '1s', // When unset, an idle shard stops refreshing.
    'requests.cache.enable': false,
    // Otherwise a refresh waits for the merges of a flush, which delays the visibility of writes.
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
      ...FILTER_FIELDS,
      ...MARKERS,
      removed_key: LONG, // The only field of a tombstone.
      order: { type: 'object', enabled: false },
    },
  },
} as const

/** Read by id only, never searched. */
const byIdDefinition = {
  settings: { ...ONE_SHARD, refresh_interval: '30s' },
  mappings: { enabled: false },
} as const

/**
 * One document for each announcement, by order and first sequence. The record is stored without
 * parsing. The short refresh interval bounds the delay until the dispatcher finds it.
 */
const eventRecordsDefinition = smallIndex({
  fanned_out: { type: 'boolean' },
  recorded_at: LONG,
  order_id: KEYWORD,
  first_sequence: LONG,
  record: { type: 'object', enabled: false },
})

const keysDefinition = smallIndex({
  key_id: KEYWORD,
  account_id: KEYWORD,
  is_test: { type: 'boolean' }, // Absent in live keys.
  scopes: KEYWORD,
  name: NOT_INDEXED,
  last_four: KEYWORD,
  created_at: LONG,
  life_ms: LONG,
  expires_at: LONG,
  revoked_at: LONG,
  last_valid_at: LONG,
})

const accountsDefinition = smallIndex({ blocked: { type: 'boolean' } })

/** The definition with this number of primary shards. */
export function withShards<D extends { settings?: object }>(definition: D, shards: number) {
  return { ...definition, settings: { ...definition.settings, number_of_shards: shards } }
}

/** The definition of an index of version records. */
export const versionRecordsDefinition = (shards: number) => withShards(byIdDefinition, shards)

/** The indices of version records, event records and the lease, by alias. */
export function recordDefinitions(names: IndexNames, shards = 1): Definitions<object> {
  return [
    [names.versionRecords, versionRecordsDefinition(shards)],
    [names.eventRecords, eventRecordsDefinition],
    [names.writer, byIdDefinition],
  ]
}

/** The indices of keys and accounts, by alias. */
export function keyDefinitions(names: IndexNames): Definitions {
  return [
    [names.keys, keysDefinition],
    [names.accounts, accountsDefinition],
  ]
}

/** Indices by alias. */
export type Definitions<D = MappedDefinition> = readonly [alias: string, definition: D][]

/** An index whose fields are searched. */
export interface MappedDefinition {
  mappings: { properties: object }
}
