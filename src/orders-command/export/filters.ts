import type { ListParams } from '../../client/client.ts'

/** The filters of GET /v1/orders (contract): parameter → how often its option may come. */
const filters = {
  status: 'list',
  payment_method: 'list',
  created_gte: 'text',
  created_lt: 'text',
  updated_gte: 'text',
  updated_lt: 'text',
  sort: 'text',
} as const satisfies Partial<Record<keyof ListParams, 'list' | 'text'>>

type Filter = keyof typeof filters
const names = Object.keys(filters) as Filter[]

type Kebab<T extends string> = T extends `${infer Head}_${infer Tail}` ? `${Head}-${Tail}` : T
type FilterOption = Kebab<Filter>

const kebab = (name: Filter) => name.replace('_', '-') as FilterOption

export const filterOptions = Object.fromEntries(
  names.map((name) => [kebab(name), filters[name]]),
) as { [Name in Filter as Kebab<Name>]: (typeof filters)[Name] }

export type Filters = Partial<Record<Filter, string>>

/** The filters of a command line, as they were typed: the API judges them, and says what is wrong in its own words. */
export function filtersOf(text: Partial<Record<FilterOption, string>>): Filters {
  const given = names.map((name) => [name, text[kebab(name)]] as const)
  return Object.fromEntries(given.filter(([, value]) => value !== undefined))
}

/** The option behind a parameter that the API refused; `null` where it is none of them. */
export function optionOf(param: string | null): string | null {
  const name = names.find((filter) => filter === param)
  return name === undefined ? null : `--${kebab(name)}`
}
