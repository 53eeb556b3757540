import type { Random } from '../random.ts'

const CPF_LENGTH = 11
const cpfWeights = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]
const CNPJ_LENGTH = 14
const cnpjWeights = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]

/** A fictitious CPF with valid check digits, digits only. */
export function cpf(random: Random): string {
  return withCheckDigits(random.digits(CPF_LENGTH - 2), cpfWeights)
}

/** A fictitious CNPJ of a head office (branch 0001) with valid check digits, digits only. */
export function cnpj(random: Random): string {
  return withCheckDigits(`${random.digits(CNPJ_LENGTH - 6)}0001`, cnpjWeights)
}

/** Formats a CPF as `000.000.000-00` and a CNPJ as `00.000.000/0000-00`. */
export function punctuated(document: string): string {
  return document.length === CPF_LENGTH
    ? document.replace(/^(...)(...)(...)(..)$/, '$1.$2.$3-$4')
    : document.replace(/^(..)(...)(...)(....)(..)$/, '$1.$2.$3/$4-$5')
}

function withCheckDigits(base: string, weights: readonly number[]): string {
  const first = base + checkDigit(base, weights.slice(1))
  return first + checkDigit(first, weights)
}

function checkDigit(digits: string, weights: readonly number[]): number {
  const sum = weights.reduce((total, weight, at) => total + weight * Number(digits[at]), 0)
  const rest = sum % 11
  return rest < 2 ? 0 : 11 - rest
}
