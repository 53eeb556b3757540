import type { FastifyReply, FastifyRequest } from 'fastify'
import { nearestName, normalizeName } from '../lib/text/nearest-name.ts'
import { orderFilters } from '../orders/filters/filter-table.ts'
import { paramsOf } from '../orders/filters/filter-types.ts'
import { listParamNames } from '../orders/list-params.ts'
import { ApiError } from './api-error.ts'
import { prefersStrict } from './headers.ts'

const MAX_IGNORED_PARAMS = 10
/** Maximum echoed length of an unknown parameter name, in UTF-16 code units. */
const MAX_PARAM_NAME_LENGTH = 64
/** The label of every parameter that does not exist, in logs and metrics. */
export const UNKNOWN_PARAM = 'unknown'
/** What a list of RFC 9651 can hold without quotes. */
const TOKEN = /^[A-Za-z*][!#$%&'*+.^_`|~:/0-9A-Za-z-]*$/

/**
 * Handles query parameters that the route does not define. An ignored filter filters nothing, so
 * the response names it in `Ignored-Params`.
 * @throws ApiError `invalid_request` naming the first one, under `Prefer: handling=strict`
 */
export function handleUnknownParams(
  request: FastifyRequest,
  reply: FastifyReply,
  known: readonly string[],
): void {
  const isStrict = prefersStrict(request.headers['prefer'])
  if (isStrict) reply.header('Preference-Applied', 'handling=strict')
  const unknown = Object.keys(request.query as object).filter((name) => !known.includes(name))
  const [first] = unknown
  if (first === undefined) return
  if (isStrict) throw unknownParamError(first, known)
  reply.header('Ignored-Params', formatIgnoredParams(unknown, known))
}

/**
 * Formats names as a percent-encoded list of RFC 9651, each with the suggested parameter:
 * `statuss;did-you-mean=status`. Count and length are bounded, so the header stays short.
 */
export function formatIgnoredParams(names: readonly string[], known: readonly string[]): string {
  return names
    .slice(0, MAX_IGNORED_PARAMS)
    .map((name) => {
      const truncated = truncateName(name)
      const suggestion = suggestParam(truncated, known)
      return `${formatItem(encodeURIComponent(truncated))}${suggestion === undefined ? '' : `;did-you-mean=${suggestion}`}`
    })
    .join(', ')
}

// Percent-encoded text contains neither quotes nor backslashes.
function formatItem(encoded: string): string {
  return TOKEN.test(encoded) ? encoded : `"${encoded}"`
}

function truncateName(name: string): string {
  // Truncation can split a surrogate pair.
  return name.slice(0, MAX_PARAM_NAME_LENGTH).toWellFormed()
}

function unknownParamError(name: string, known: readonly string[]): ApiError {
  const param = truncateName(name)
  return new ApiError('invalid_request', { param, message: unknownParamMessage(param, known) })
}

/** The message of the error. It omits the name, which can be any text; `param` carries it. */
export function unknownParamMessage(name: string, known: readonly string[]): string {
  const suggestion = suggestParam(name, known)
  const hint = suggestion === undefined ? '' : ` Você quis dizer ${suggestion}?`
  const accepted =
    known.length === 0
      ? 'Esta rota não aceita parâmetros de consulta.'
      : `Parâmetros aceitos: ${known.join(', ')}.`
  return `Parâmetro desconhecido.${hint} ${accepted} Corrija o nome ou retire o parâmetro; sem "Prefer: handling=strict" ele é ignorado.`
}

/**
 * The parameter of an error as a label for logs and metrics. An unknown name can contain a key or
 * an e-mail address, and each would create a time series.
 */
export function safeParamLabel({ param }: Pick<ApiError, 'param'>): string | undefined {
  if (param === undefined) return undefined
  return listParamNames.find((name) => name === param) ?? UNKNOWN_PARAM
}

const paramBySynonym = new Map<string, string>(
  [
    {
      param: 'limit',
      synonyms: ['pagesize', 'perpage', 'size', 'count', 'take', 'first', 'maxresults'],
    },
    {
      param: 'cursor',
      synonyms: [
        'page',
        'nextcursor',
        'startingafter',
        'after',
        'pagetoken',
        'nextpagetoken',
        'offset',
      ],
    },
    { param: 'sort', synonyms: ['sortby', 'order', 'orderby', 'ordering'] },
    ...Object.values(orderFilters).flatMap(paramsOf),
  ].flatMap(({ param, synonyms }) => synonyms.map((synonym) => [synonym, param] as const)),
)

/**
 * Returns the known parameter that `name` probably means: a synonym from another API, else the
 * nearest name. Callers truncate `name` first: see {@link nearestName}.
 */
export function suggestParam<Name extends string>(
  name: string,
  known: readonly Name[],
): Name | undefined {
  const bySynonym = paramBySynonym.get(normalizeName(name))
  return known.find((candidate) => candidate === bySynonym) ?? nearestName(name, known)
}
