import type { Documents, Operation } from './memory-shard.ts'

/** The part of a query language that the writer and a reindex use. */
export interface Query {
  bool?: { filter?: readonly Query[]; must_not?: readonly Query[] }
  exists?: { field: string }
  range?: Readonly<Record<string, { gte: number }>>
  terms?: Readonly<Record<string, readonly unknown[]>>
}

/** The parts of a search body that they use. */
export interface SearchBody {
  query?: Query
  sort?: readonly Readonly<Record<string, string>>[]
  search_after?: readonly SortKey[]
  size?: number
  _source?: readonly string[] | false
}

type SortKey = string | number

/** The documents that match, tombstones included. */
export function findDocuments(documents: Documents, query: Query = {}): Operation[] {
  return [...documents.values()].filter(({ source }) => matches(source, query))
}

/** The hits of a sorted search. */
export function searchHits(documents: Documents, body: SearchBody): object[] {
  const { query, sort = [], search_after: after, size = 10, _source: selected } = body
  const keys = sort.flatMap((one) => Object.entries(one))
  return findDocuments(documents, query)
    .map((found) => ({ found, sort: keys.map(([field]) => keyOf(found, field)) }))
    .filter((hit) => after === undefined || compare(hit.sort, after, keys) > 0)
    .sort((one, other) => compare(one.sort, other.sort, keys))
    .slice(0, size)
    .map(({ found: { id, source }, sort }) => ({
      _id: id,
      _routing: id.split(':')[0],
      sort,
      fields: { written_key: [source['written_key']] },
      ...(Array.isArray(selected) && {
        _source: Object.fromEntries(selected.map((field) => [field, source[field]])),
      }),
    }))
}

function matches(source: Readonly<Record<string, unknown>>, query: Query): boolean {
  const {
    bool: { filter = [], must_not: excluded = [] } = {},
    exists,
    range = {},
    terms = {},
  } = query
  return (
    filter.every((one) => matches(source, one)) &&
    !excluded.some((one) => matches(source, one)) &&
    (exists === undefined || source[exists.field] !== undefined) &&
    Object.entries(range).every(([field, { gte }]) => Number(source[field]) >= gte) &&
    Object.entries(terms).every(([field, values]) => values.includes(source[field]))
  )
}

function keyOf({ source, seqNo }: Operation, field: string): SortKey {
  return field === '_seq_no' ? seqNo : (source[field] as SortKey)
}

function compare(
  one: readonly SortKey[],
  other: readonly SortKey[],
  keys: readonly (readonly [string, string])[],
): number {
  for (const [at, [, direction]] of keys.entries()) {
    const [a, b] = [one[at] ?? '', other[at] ?? '']
    if (a !== b) return a < b === (direction === 'asc') ? -1 : 1
  }
  return 0
}
