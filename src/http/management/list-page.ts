import { type Static, Type } from '@sinclair/typebox'
import { InvalidParamError } from '../../lib/errors/invalid-param-error.ts'
import { parseLimitText } from '../../lib/page-limit.ts'
import type { ListCursorCodec, ListPosition } from '../../management/list-cursor.ts'

/** Page size of all management lists; independent of the orders API. */
export const DEFAULT_LIST_ITEMS = 20
export const MAX_LIST_ITEMS = 100

/** The query parameters of every list. */
export const PageParams = Type.Object({
  limit: Type.Optional(Type.String()),
  cursor: Type.Optional(Type.String()),
})
export type PageParams = Static<typeof PageParams>

/** A page of one list that starts after a position. */
interface PageRequest {
  limit: number
  after: ListPosition | null
  /** The cursor of the page after this position. */
  seal(last: ListPosition): string
}

/** Parses the parameters of a page. @throws InvalidParamError */
export function parsePage(
  { limit, cursor }: PageParams,
  list: string,
  cursors: ListCursorCodec,
): PageRequest {
  const page = {
    limit: limit === undefined ? DEFAULT_LIST_ITEMS : parseLimitText(limit, MAX_LIST_ITEMS),
    seal: (last: ListPosition) => cursors.seal(list, last),
  }
  if (cursor === undefined) return { ...page, after: null }
  const after = cursors.open(list, cursor)
  if (after !== null) return { ...page, after }
  throw new InvalidParamError(
    'cursor',
    'Cursor inválido para esta lista. Envie o next_cursor exatamente como recebido ou recomece sem cursor.',
  )
}

/**
 * The envelope of a list. `items`: one more than the limit when another page follows; the cursor
 * comes from the last one of the page.
 */
export function renderPage<T>(
  items: readonly T[],
  { limit, seal }: PageRequest,
  toJson: (item: T) => object,
  positionOf: (last: T) => ListPosition,
) {
  const page = items.slice(0, limit)
  const last = page.at(-1)
  const hasMore = items.length > limit && last !== undefined
  return {
    object: 'list',
    data: page.map(toJson),
    has_more: hasMore,
    next_cursor: hasMore ? seal(positionOf(last)) : null,
  } as const
}

/** The envelope of a list that the domain returns whole, in the ascending order of its keys. */
export function renderWholeList<T>(
  items: readonly T[],
  page: PageRequest,
  toJson: (item: T) => object,
  positionOf: (item: T) => ListPosition,
) {
  const { after, limit } = page
  const rest = after === null ? items : items.filter((item) => isAfter(positionOf(item), after))
  return renderPage(rest.slice(0, limit + 1), page, toJson, positionOf)
}

function isAfter(position: ListPosition, other: ListPosition): boolean {
  const at = position.findIndex((value, index) => value !== other[index])
  return at >= 0 && (position[at] ?? 0) > (other[at] ?? 0)
}
