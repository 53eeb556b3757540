import { ordersDefinition } from '../../../src/stores/opensearch/index-definition.ts'

/** Changes to the service's definition of an index of orders. */
interface IndexVariant {
  settings?: object
  /** Added to the mapping of a field. */
  fields?: Readonly<Record<string, object>>
  /** Into how many segments a shard is merged at most after the load. */
  segments?: number | 'as filled'
  /** The nodes that it needs to make a difference. */
  nodes?: number
}

/** The baseline. */
export const AS_DEFINED = 'as the service defines it'

const NEVER_SORTED = { doc_values: false }
const SKIPPING = { skip_list: true }
/** The files that OpenSearch reads by system calls by default. */
const BY_DEFAULT = [...ordersDefinition.settings['store.hybrid.nio.extensions'], 'fdt', 'fdx']
const KEYS = ['created_key', 'updated_key', 'written_key']

/**
 * The compared indices, merged alike, so none has fewer segments by chance. The last repeats the
 * baseline, so its difference is noise. The part `definitions` compares index sorts.
 */
export const indexVariants: Readonly<Record<string, IndexVariant>> = {
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

/** The variants that make a difference on so many nodes. */
export function variantsFor(nodes: number): string[] {
  const all = Object.entries(indexVariants)
  return all.filter(([, variant]) => (variant.nodes ?? 1) <= nodes).map(([name]) => name)
}

export function definitionWith({ settings, fields = {} }: IndexVariant): object {
  const { mappings } = ordersDefinition
  const properties = Object.entries(mappings.properties).map(([name, field]) => {
    return [name, { ...field, ...fields[name] }]
  })
  return {
    settings: { ...ordersDefinition.settings, ...settings },
    mappings: { ...mappings, properties: Object.fromEntries(properties) },
  }
}

function onKeys(field: object): Record<string, object> {
  return Object.fromEntries(KEYS.map((key) => [key, field]))
}
