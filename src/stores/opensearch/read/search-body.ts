import {
  type FilterCondition,
  filterConditions,
  NULL_UPDATED_KEY,
  type PageQuery,
  type Position,
  type Sort,
} from '../../../orders/order-store.ts'

/** By which key each sort walks. */
export const sortFields = {
  created_at_desc: 'created_key',
  updated_at_asc: 'updated_key',
} as const satisfies Record<Sort, string>

/** Which way, and where the rows are that come after one. */
const directions = {
  created_at_desc: { order: 'desc', afterBound: 'lte' },
  updated_at_asc: { order: 'asc', afterBound: 'gte' },
} as const satisfies Record<Sort, object>

/** The search that answers a slice; pure, compared with stored JSON in the tests. */
export function buildSearch({
  accountId,
  sort,
  filters,
  after,
  nullsWrittenAfter,
  size,
}: PageQuery) {
  const key = sortFields[sort]
  const { order, afterBound } = directions[sort]
  return {
    size,
    track_total_hits: false,
    query: {
      bool: {
        filter: [
          { term: { account_id: accountId } },
          ...filterConditions(filters).map(filterClause),
          // What `search_after` says already, told once more as a range: that is what lets it skip.
          ...(after ? [{ range: { [key]: { [afterBound]: after.key } } }] : []),
          ...(nullsWrittenAfter ? [datedOrWrittenAfter(nullsWrittenAfter)] : []),
        ],
      },
    },
    sort: [{ [key]: order }, { id: order }],
    ...(after && { search_after: [after.key, after.id] }),
  }
}

/** The search for the last write of an account: where it stands is all that is asked. */
export function buildLatestWriteSearch(accountId: string) {
  return {
    size: 1,
    track_total_hits: false,
    _source: false,
    query: { bool: { filter: [{ term: { account_id: accountId } }] } },
    sort: [{ written_key: 'desc' }, { id: 'desc' }],
  }
}

function datedOrWrittenAfter({ key, id }: Position) {
  return {
    bool: {
      should: [
        { range: { updated_key: { lt: NULL_UPDATED_KEY } } },
        { range: { written_key: { gt: key } } },
        { bool: { filter: [{ term: { written_key: key } }, { range: { id: { gt: id } } }] } },
      ],
    },
  }
}

function filterClause(condition: FilterCondition) {
  return 'values' in condition
    ? { terms: { [condition.column]: condition.values } }
    : { range: { [condition.column]: condition.range } }
}
