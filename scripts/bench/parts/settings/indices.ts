import { ordersDefinition } from '../../../../src/stores/opensearch/indices/index-definition.ts'

type Field = keyof typeof ordersDefinition.mappings.properties

/** Changes to the service's definition of an index of orders. */
export interface IndexVariant {
  /** Those that are undefined are removed. */
  settings?: object
  /** Added to the mapping of a field. */
  fields?: Readonly<Partial<Record<Field, object>>>
  /** Into how many segments a shard is merged at most after the load. */
  segments?: number | 'as filled'
  /** The nodes that it needs to make a difference. */
  nodes?: number
}

export type IndexVariants = Readonly<Record<string, IndexVariant>>

/** The baseline. */
export const AS_DEFINED = 'as the service defines it'

const NEVER_SORTED = { doc_values: false }
const SKIPPING = { skip_list: true }
/** The files that OpenSearch reads by system calls by default. */
const BY_DEFAULT = [...ordersDefinition.settings['store.hybrid.nio.extensions'], 'fdt', 'fdx']
const KEYS = ['created_key', 'updated_key', 'written_key'] as const

/**
 * The compared indices, merged alike, so none has fewer segments by chance. The last repeats the
 * baseline, so its difference is noise.
 */
export const indexVariants: IndexVariants = {
  [AS_DEFINED]: {},
  'segments as filled': { segments: 'as filled' },
  'segments: 8 at most': { segments: 8 },
  'segments: 4 at most': { segments: 4 },
  'codec: best_compression': { settings: { codec: 'best_compression' } },
  'store: sources by read calls': { settings: { 'store.hybrid.nio.extensions': BY_DEFAULT } },
  'store: mmapfs': { settings: { 'store.type': 'mmapfs' } },
  'skip lists on the keys': { fields: onKeys(SKIPPING) },
  'skip lists in place of points': { fields: onKeys({ ...SKIPPING, index: false }) },
  'doc values of sort fields only': {
    fields: { status: NEVER_SORTED, payment_method: NEVER_SORTED, shape: NEVER_SORTED },
  },
  'no cache of queries': { settings: { 'queries.cache.enabled': false } },
  'no concurrent segments': { settings: { 'search.concurrent_segment_search.mode': 'none' } },
  'shards: 3': { settings: { number_of_shards: 3 } },
  'no replica': { settings: { auto_expand_replicas: false, number_of_replicas: 0 }, nodes: 2 },
  'the same once more': {},
}

/** The index sort of the service. */
export const BY_ACCOUNT = 'account'

/** Index sorts, as filled by the load. */
export const sortVariants: IndexVariants = {
  none: { settings: { 'sort.field': undefined, 'sort.order': undefined }, segments: 'as filled' },
  [BY_ACCOUNT]: { segments: 'as filled' },
  'account+created': sortedBy(['account_id', 'created_key', 'id'], ['asc', 'desc', 'desc']),
  'account+updated': sortedBy(['account_id', 'updated_key', 'id'], ['asc', 'asc', 'asc']),
}

export function definitionWith({ settings, fields = {} }: IndexVariant): object {
  const { mappings } = ordersDefinition
  const properties = Object.entries(mappings.properties).map(([name, field]) => {
    return [name, { ...field, ...fields[name as Field] }]
  })
  return {
    settings: { ...ordersDefinition.settings, ...settings },
    mappings: { ...mappings, properties: Object.fromEntries(properties) },
  }
}

function onKeys(field: object): Partial<Record<Field, object>> {
  return Object.fromEntries(KEYS.map((key) => [key, field]))
}

function sortedBy(fields: readonly string[], directions: readonly string[]): IndexVariant {
  return { settings: { 'sort.field': fields, 'sort.order': directions }, segments: 'as filled' }
}
