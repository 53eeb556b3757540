import type { LookupColumn } from '../lookups.ts'

/** A column of filters that an index of an earlier release can lack. */
export type FilterColumn = 'paid_key' | LookupColumn

/**
 * The columns of filters that one release added, and how OpenSearch knows that an index has them.
 */
export interface FilterGeneration {
  /** The end of the alias that only an index has whose documents all have these columns. */
  alias: string
  /**
   * A field that every document of the release has: one of the columns, unless all are texts.
   * OpenSearch's `exists` does not match an empty list.
   */
  marker: string
  columns: readonly FilterColumn[]
}

/**
 * The columns of filters since the first release; the newest generation comes last. A release adds
 * a generation and never a column to an earlier one. The documents of the release before have the
 * marker of that one, so the new filter would return an empty list from its index, instead of 400.
 */
export const filterGenerations: readonly FilterGeneration[] = [
  {
    alias: 'filterable',
    marker: 'paid_key',
    columns: ['paid_key', 'customer_email', 'customer_document', 'product_ids'],
  },
]

export const filterColumns = filterGenerations.flatMap(({ columns }) => columns)

/** The markers that are fields of their own, in OpenSearch alone. */
export const markerFields = filterGenerations
  .map(({ marker }) => marker)
  .filter((marker) => !filterColumns.some((column) => column === marker))
