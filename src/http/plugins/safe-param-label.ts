import { UNKNOWN_PARAM } from '../../observability/metrics/http.ts'
import { listParamNames } from '../../orders/list-params.ts'
import type { ApiError } from '../api-error.ts'

/**
 * The parameter at fault, as the log and the metrics may tell it: one that does not exist is named as its sender
 * likes, a key or a buyer's e-mail among it, and would make a series of its own.
 */
export function safeParamLabel({ param }: ApiError): string | undefined {
  if (param === undefined) return undefined
  return listParamNames.find((name) => name === param) ?? UNKNOWN_PARAM
}
