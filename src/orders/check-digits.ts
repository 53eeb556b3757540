/**
 * Appends the two check digits of a CPF or CNPJ, modulo 11. `base` has ASCII digits, for a CNPJ
 * also upper-case letters. A character counts by its ASCII code minus 48. `weights`: of the second
 * digit.
 */
export function withCheckDigits(base: string, weights: readonly number[]): string {
  const first = base + checkDigit(base, weights.slice(1))
  return first + checkDigit(first, weights)
}

/** The weights of the check digits of a CNPJ. */
export const cnpjWeights: readonly number[] = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]

const ASCII_ZERO = 48

function checkDigit(base: string, weights: readonly number[]): number {
  const sum = weights.reduce(
    (total, weight, at) => total + weight * (base.charCodeAt(at) - ASCII_ZERO),
    0,
  )
  const rest = sum % 11
  return rest < 2 ? 0 : 11 - rest
}
