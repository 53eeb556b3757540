import {
  type FilterCondition,
  filterConditions,
} from '../../../orders/filters/filter-conditions.ts'
import {
  NULL_INSTANT_KEY,
  type PageQuery,
  type Position,
  type Sort,
} from '../../../orders/order-store.ts'

/** The sort field of each sort. */
export const sortFields = {
  created_at_desc: 'created_key',
  updated_at_asc: 'updated_key',
} as const satisfies Record<Sort, string>

/** The direction of each sort, and the range operators for rows after and before a position. */
const directions = {
  created_at_desc: { order: 'desc', afterBound: 'lte', beforeBound: 'gte' },
  updated_at_asc: { order: 'asc', afterBound: 'gte', beforeBound: 'lte' },
} as const satisfies Record<Sort, object>

/** Whether a search finds all orders of the account that follow its position. */
export function isPlain({ filters, nullsWrittenAfter }: PageQuery): boolean {
  return nullsWrittenAfter === null && filterConditions(filters).length === 0
}

/** Builds the search for a page; `bound`: the last key that it considers, `null` for all. */
export function buildSearch(
  { accountId, sort, filters, after, nullsWrittenAfter, size }: PageQuery,
  bound: number | null = null,
) {
  const key = sortFields[sort]
  const { order, afterBound, beforeBound } = directions[sort]
  // Repeats `search_after` as a range, which lets OpenSearch skip documents.
  const range = {
    ...(after && { [afterBound]: after.key }),
    ...(bound !== null && { [beforeBound]: bound }),
  }
  return {
    size,
    track_total_hits: false,
    query: {
      bool: {
        filter: [
          { term: { account_id: accountId } },
          ...filterConditions(filters).map(filterClause),
          ...(after !== null || bound !== null ? [{ range: { [key]: range } }] : []),
          ...(nullsWrittenAfter ? [datedOrWrittenAfter(nullsWrittenAfter)] : []),
        ],
      },
    },
    sort: [{ [key]: order }, { id: order }],
    ...(after && { search_after: [after.key, after.id] }),
  }
}

/** Builds the search for the position of an account's latest write. */
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
        { range: { updated_key: { lt: NULL_INSTANT_KEY } } },
        { range: { written_key: { gt: key } } },
        { bool: { filter: [{ term: { written_key: key } }, { range: { id: { gt: id } } }] } },
      ],
    },
  }
}

function filterClause(condition: FilterCondition) {
  if ('lookup' in condition) return { terms: { [condition.lookup]: condition.values } }
  if ('values' in condition) return { terms: { [condition.column]: condition.values } }
  const { column, range, orKey } = condition
  const within = { range: { [column]: range } }
  return orKey === undefined
    ? within
    : { bool: { should: [within, { term: { [column]: orKey } }] } }
}
