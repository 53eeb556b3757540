import { InvalidParamError } from './errors/invalid-param-error.ts'

/** How to correct the parameter `limit` of a list, in Portuguese. */
export const limitHelp = (max: number): string =>
  `Envie em limit um número inteiro de 1 a ${max}, só com dígitos e sem zeros à esquerda.`

/** Parses a `limit`: 1 to `max`, without leading zeros. @throws InvalidParamError */
export function parseLimitText(text: string, max: number): number {
  const value = /^[1-9]\d*$/.test(text) ? Number(text) : 0
  if (value < 1 || value > max) throw new InvalidParamError('limit', limitHelp(max))
  return value
}
