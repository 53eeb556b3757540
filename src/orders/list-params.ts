import { InvalidParamError } from '../lib/errors/invalid-param-error.ts'
import { limitHelp, parseLimitText } from '../lib/page-limit.ts'
import { orderFilters } from './filters/filter-table.ts'
import { paramsOf, type TextFilter } from './filters/filter-types.ts'
import {
  type FilterParamName,
  type InstantRange,
  noFilters,
  type OrderFilters,
} from './filters/filters.ts'
import { parseQueryInstant } from './filters/query-instant.ts'
import { MAX_LOOKUP_LENGTH } from './lookups.ts'
import { type Sort, sorts } from './order-store.ts'

/** A parsed query string: a parameter that occurs more than once is a list. */
export type RawQuery = Readonly<Record<string, string | string[]>>

export interface ListParams {
  /** 1 to {@link MAX_ORDERS_PER_PAGE}. */
  limit: number
  cursor: string | undefined
  sort: Sort
  filters: OrderFilters
}

export const DEFAULT_ORDERS_PER_PAGE = 20
export const MAX_ORDERS_PER_PAGE = 100
export const MAX_CURSOR_LENGTH = 512
/** The maximum number of texts in one filter. */
export const MAX_FILTER_TEXTS = 20
export const LIMIT_HELP = limitHelp(MAX_ORDERS_PER_PAGE)

export type ListParamName = 'limit' | 'cursor' | 'sort' | FilterParamName

type RangeParams = Record<'gte' | 'lt', { param: ListParamName }> & {
  orNull?: { param: ListParamName }
}

const filterParams = Object.values(orderFilters)
  .flatMap(paramsOf)
  .map(({ param }) => param as FilterParamName)
const filterParamSet = new Set<string>(filterParams)

/** The query parameters of `GET /v1/orders`, in the order of the API reference. */
export const listParamNames: readonly ListParamName[] = ['limit', 'cursor', ...filterParams, 'sort']

/**
 * Parses the parameters of `GET /v1/orders`. Written by hand, because coercing validators accept
 * `5.0`, `1e1` and February 30.
 * @throws InvalidParamError naming the first invalid parameter and how to correct it
 */
export function parseListParams(query: RawQuery): ListParams {
  return {
    limit: parseLimit(query),
    cursor: parseCursor(query),
    sort: parseOneOf(query, 'sort', sorts) ?? 'created_at_desc',
    filters: parseFilters(query),
  }
}

function parseLimit(query: RawQuery): number {
  const text = single(query, 'limit')
  return text === undefined ? DEFAULT_ORDERS_PER_PAGE : parseLimitText(text, MAX_ORDERS_PER_PAGE)
}

function parseCursor(query: RawQuery): string | undefined {
  const text = single(query, 'cursor')
  if (text !== undefined && (text === '' || text.length > MAX_CURSOR_LENGTH)) {
    throw new InvalidParamError(
      'cursor',
      `O cursor deve ter de 1 a ${MAX_CURSOR_LENGTH} caracteres. Envie o next_cursor exatamente como recebido ou recomece a listagem sem cursor.`,
    )
  }
  return text
}

function parseFilters(query: RawQuery): OrderFilters {
  if (!Object.keys(query).some((name) => filterParamSet.has(name))) return noFilters
  const parsed = Object.entries(orderFilters).map(([name, filter]) => [
    name,
    parseFilter(query, filter),
  ])
  return Object.fromEntries(parsed)
}

type FilterOfQuery = (typeof orderFilters)[keyof typeof orderFilters]

function parseFilter(query: RawQuery, filter: FilterOfQuery) {
  if (filter.kind === 'enum') return parseEnumList<string>(query, filter.param, filter.values)
  return filter.kind === 'text' ? parseTextList(query, filter) : parseRange(query, filter)
}

function parseRange(query: RawQuery, { gte, lt, orNull }: RangeParams): InstantRange {
  const from = parseBound(query, gte.param)
  const until = parseBound(query, lt.param)
  const includesNull = orNull !== undefined && parseFlag(query, orNull.param)
  if (from === undefined && until === undefined) return {}
  return {
    ...(from !== undefined && { gte: from }),
    ...(until !== undefined && { lt: until }),
    ...(includesNull && { orNull: true }),
  }
}

const parseFlag = (query: RawQuery, name: ListParamName) =>
  parseOneOf(query, name, ['true', 'false']) === 'true'

/** Rounds a bound finer than a millisecond up, which is exact for both `gte` and `lt`. */
function parseBound(query: RawQuery, name: ListParamName): number | undefined {
  const text = single(query, name)
  if (text === undefined) return undefined
  const parsed = parseQueryInstant(text)
  if (typeof parsed === 'string') throw new InvalidParamError(name, parsed)
  return parsed.ceilMs
}

/** Parses a comma-separated list, a repeated parameter, or both. */
function parseEnumList<T extends string>(
  query: RawQuery,
  name: ListParamName,
  allowed: readonly T[],
): readonly T[] {
  const values = splitList(query, name)
  for (const value of values) {
    if (!includes(allowed, value)) {
      throw unknownValue(name, value, `${LIST_HELP} ${allowed.join(', ')}.`)
    }
  }
  return [...new Set(values as T[])]
}

/** Parses a list of exact texts into their canonical forms. No message echoes a text. */
function parseTextList(
  query: RawQuery,
  { param, canonical, help, spaceHelp }: TextFilter & { param: ListParamName },
): readonly string[] {
  const values = splitList(query, param)
  if (values.length > MAX_FILTER_TEXTS) {
    throw new InvalidParamError(param, `Envie em ${param} no máximo ${MAX_FILTER_TEXTS} valores.`)
  }
  const parsed = values.map((value) => {
    const found = canonical(value)
    if (found !== null) return found
    const hint = spaceHelp !== undefined && value.includes(' ') ? ` ${spaceHelp}` : ''
    throw new InvalidParamError(param, `${faultOf(param, value)} ${help}${hint}`)
  })
  return [...new Set(parsed)]
}

function faultOf(param: ListParamName, value: string): string {
  if (value === '') return `Há um valor vazio em ${param}.`
  return value.length > MAX_LOOKUP_LENGTH
    ? `Um valor de ${param} tem mais de ${MAX_LOOKUP_LENGTH} caracteres.`
    : `Valor inválido em ${param}.`
}

function splitList(query: RawQuery, name: ListParamName): string[] {
  const raw = query[name]
  return raw === undefined ? [] : [raw].flat().flatMap((text) => text.split(','))
}

function parseOneOf<T extends string>(
  query: RawQuery,
  name: ListParamName,
  allowed: readonly T[],
): T | undefined {
  const text = single(query, name)
  if (text === undefined || includes(allowed, text)) return text
  throw unknownValue(name, text, `${ONE_HELP} ${allowed.join(', ')}.`)
}

function single(query: RawQuery, name: ListParamName): string | undefined {
  const raw = query[name]
  if (Array.isArray(raw)) throw new InvalidParamError(name, `Envie ${name} uma única vez.`)
  return raw
}

function includes<T extends string>(allowed: readonly T[], value: string): value is T {
  return (allowed as readonly string[]).includes(value)
}

const ONE_HELP = 'Envie um destes valores, escrito exatamente assim:'
const LIST_HELP =
  'Valores aceitos, escritos exatamente assim e separados só por vírgula, sem espaços:'

function unknownValue(name: ListParamName, value: string, help: string): InvalidParamError {
  const fault = value === '' ? `Há um valor vazio em ${name}.` : `Valor desconhecido em ${name}.`
  return new InvalidParamError(name, `${fault} ${help}`)
}
