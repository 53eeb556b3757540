import type { FastifyReply, FastifyRequest } from 'fastify'
import { suggestParam } from '../../orders/suggest-param.ts'
import { prefersStrict } from './prefer.ts'
import { truncateName, unknownParamError } from './unknown-param-error.ts'

const MAX_IGNORED_PARAMS = 10
/** What a list of RFC 9651 may hold without quotes. */
const TOKEN = /^[A-Za-z*][!#$%&'*+.^_`|~:/0-9A-Za-z-]*$/

/**
 * Query parameters that the route does not know: a misspelled filter filters nothing, and its author should
 * see that. They are told in `Ignored-Params` (contract, "Filter rules" 4), or refused where the caller prefers so.
 * @throws ApiError `invalid_request` naming the first, under `Prefer: handling=strict`
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
 * The names as a list of RFC 9651, percent-encoded, with the one that will have been meant: `statuss;did-you-mean=status`.
 * At most ten of them, and of each so many characters that the header is short whatever was sent.
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

/** What is encoded holds neither quotes nor backslashes. */
function formatItem(encoded: string): string {
  return TOKEN.test(encoded) ? encoded : `"${encoded}"`
}
