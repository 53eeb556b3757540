import { ordersDefinition } from '../../../src/stores/opensearch/index-definition.ts'

/** An index's sort: its fields, and which way. */
type IndexSort = readonly (readonly [field: string, way: 'asc' | 'desc'])[]

/** The index sorts that are compared, by the name they go by. */
export const indexSorts = {
  none: [],
  account: [['account_id', 'asc']],
  'account+created': [
    ['account_id', 'asc'],
    ['created_key', 'desc'],
    ['id', 'desc'],
  ],
  'account+updated': [
    ['account_id', 'asc'],
    ['updated_key', 'asc'],
    ['id', 'asc'],
  ],
} as const satisfies Record<string, IndexSort>

export type DefinitionName = keyof typeof indexSorts

/** What the others are compared with. */
export const BASE: DefinitionName = 'account'

export const definitionNames = Object.keys(indexSorts) as DefinitionName[]

/** The service's own definition of an index of orders, with another index sort. */
export function definitionOf(name: DefinitionName): object {
  const { 'sort.field': _field, 'sort.order': _order, ...settings } = ordersDefinition.settings
  const sort: IndexSort = indexSorts[name]
  if (sort.length === 0) return { ...ordersDefinition, settings }
  return {
    ...ordersDefinition,
    settings: {
      ...settings,
      'sort.field': sort.map(([field]) => field),
      'sort.order': sort.map(([, way]) => way),
    },
  }
}
