import type { LookupColumn } from '../lookups.ts'

/** What the query parameters of a filter have in common, for the parser and the docs. */
interface FilterParam {
  /** The name of the query parameter. */
  param: string
  /** Portuguese, for the API reference. */
  description: string
  /** Names that other APIs use, in lower case and without separators. */
  synonyms: readonly string[]
}

interface FilterField {
  /** The field of both stores that the filter compares. */
  column: string
  /**
   * Whether the field is personal data. A masked key cannot use such a filter, which would confirm
   * a guess.
   */
  isPersonal: boolean
  /**
   * `true` for the filters of the first release, which occupy fixed places in the text that a
   * cursor signs. A filter added later has `false` and joins that text only when set: existing
   * cursors stay valid.
   */
  isInEveryCursor: boolean
}

/** Matches orders whose field is one of the given members of a closed set. */
export interface EnumFilter extends FilterParam, FilterField {
  kind: 'enum'
  values: readonly string[]
  example: string
}

/** Matches orders whose field lies in a half-open range of instants. */
export interface RangeFilter extends FilterField {
  kind: 'range'
  /** Whether an order can lack the field; a bound at either end excludes such an order. */
  isNullable: boolean
  gte: FilterParam
  lt: FilterParam
  /** With `true`, a range also matches orders that lack the field. Only of a nullable field. */
  orNull?: FilterParam
}

/**
 * Matches orders that have one of the given texts in a field. A value has no comma, because the
 * parser splits the list there: no filter finds a text with one.
 */
export interface TextFilter extends FilterParam, FilterField {
  kind: 'text'
  column: LookupColumn
  /** The form that is compared; `null` for a text that no order can have. */
  canonical(text: string): string | null
  /** A regular expression for the API reference. It may match texts without a canonical form. */
  pattern: string
  /** Portuguese: how to write a value. */
  help: string
  /** Portuguese: the next step for a value with a space, which can be the + of a URL. */
  spaceHelp?: string
  example: string
}

export type Filter = EnumFilter | RangeFilter | TextFilter

/** The query parameters of one filter. */
export function paramsOf(filter: Filter): FilterParam[] {
  if (filter.kind !== 'range') return [filter]
  const { gte, lt, orNull } = filter
  return orNull === undefined ? [gte, lt] : [gte, lt, orNull]
}
