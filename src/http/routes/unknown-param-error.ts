import { suggestParam } from '../../orders/suggest-param.ts'
import { ApiError } from '../api-error.ts'

/** Of a name that nobody knows, so much is looked at and told; UTF-16 code units. */
export const MAX_PARAM_NAME_LENGTH = 64

/** A name as it was sent, as much of it as may be told. */
export function truncateName(name: string): string {
  // A surrogate cut from its pair is no character.
  return name.slice(0, MAX_PARAM_NAME_LENGTH).toWellFormed()
}

/** The `400 invalid_request` of a query parameter that the route does not know, where such are not ignored. */
export function unknownParamError(name: string, known: readonly string[]): ApiError {
  const param = truncateName(name)
  return new ApiError('invalid_request', { param, message: unknownParamMessage(param, known) })
}

/** What its message says: the name itself is only in `param`, since it can be any text. */
export function unknownParamMessage(name: string, known: readonly string[]): string {
  const suggestion = suggestParam(name, known)
  const hint = suggestion === undefined ? '' : ` Você quis dizer ${suggestion}?`
  const accepted =
    known.length === 0
      ? 'Esta rota não aceita parâmetros de consulta.'
      : `Parâmetros aceitos: ${known.join(', ')}.`
  return `Parâmetro desconhecido.${hint} ${accepted} Corrija o nome ou retire o parâmetro; sem "Prefer: handling=strict" ele é ignorado.`
}
