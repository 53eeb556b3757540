import type { ListParams } from '../../client/client.ts'

/** The filters of GET /v1/orders: parameter → the kind of its option. */
const filters = {
  status: 'list',
  payment_method: 'list',
  created_gte: 'text',
  created_lt: 'text',
  updated_gte: 'text',
  updated_lt: 'text',
  include_undated: 'flag',
  paid_gte: 'text',
  paid_lt: 'text',
  product_id: 'list',
  customer_email: 'list',
  customer_document: 'list',
  sort: 'text',
} as const satisfies Partial<Record<keyof ListParams, 'list' | 'text' | 'flag'>>

type Filter = keyof typeof filters
const names = Object.keys(filters) as Filter[]

type Kebab<T extends string> = T extends `${infer Head}_${infer Tail}`
  ? `${Head}-${Kebab<Tail>}`
  : T
type FilterOption = Kebab<Filter>

/** The name of the option of a parameter. */
export function optionName<T extends string>(param: T): Kebab<T> {
  return param.replaceAll('_', '-') as Kebab<T>
}

export const filterOptions = Object.fromEntries(
  names.map((name) => [optionName(name), filters[name]]),
) as { [Name in Filter as Kebab<Name>]: (typeof filters)[Name] }

export type Filters = Partial<Record<Filter, string | true>>

/** The filters as typed: the API validates them and returns the error message. */
export function filtersOf(
  text: Partial<Record<FilterOption, string>>,
  flags: ReadonlySet<string>,
): Filters {
  const given = (option: FilterOption) => text[option] ?? (flags.has(option) ? true : undefined)
  const values = names.map((name) => [name, given(optionName(name))] as const)
  return Object.fromEntries(values.filter(([, value]) => value !== undefined))
}

/** The option of a parameter that the API rejected; `null` for other parameters. */
export function optionOf(param: string | null): string | null {
  const name = names.find((filter) => filter === param)
  return name === undefined ? null : `--${optionName(name)}`
}
