import { ApiError } from '../errors.ts'
import { nearestParam } from './nearest-param.ts'

/** Of a name that nobody knows, so much is looked at and told; UTF-16 code units. */
export const MAX_NAME_LENGTH = 64

/** A name as it was sent, as much of it as may be told. */
export function tellableName(name: string): string {
  // A surrogate cut from its pair is no character.
  return name.slice(0, MAX_NAME_LENGTH).toWellFormed()
}

/** The `400 invalid_request` of a query parameter that the route does not know, where such are not ignored. */
export function unknownParam(name: string, known: readonly string[]): ApiError {
  const param = tellableName(name)
  return new ApiError('invalid_request', { param, message: unknownParamHelp(param, known) })
}

/** What its message says: the name itself is only in `param`, since it can be any text. */
export function unknownParamHelp(name: string, known: readonly string[]): string {
  const nearest = nearestParam(name, known)
  const question = nearest === undefined ? '' : ` Você quis dizer ${nearest}?`
  const accepted =
    known.length === 0
      ? 'Esta rota não aceita parâmetros de consulta.'
      : `Parâmetros aceitos: ${known.join(', ')}.`
  return `Parâmetro desconhecido.${question} ${accepted} Corrija o nome ou retire o parâmetro; sem "Prefer: handling=strict" ele é ignorado.`
}
