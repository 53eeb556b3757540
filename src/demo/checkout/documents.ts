import { cnpjWeights, withCheckDigits } from '../../orders/check-digits.ts'
import type { Random } from '../random.ts'

const CPF_LENGTH = 11
const cpfWeights = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]
const CNPJ_LENGTH = 14
const CNPJ_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'

/** A fictitious CPF with valid check digits, digits only. */
export function cpf(random: Random): string {
  return withCheckDigits(random.digits(CPF_LENGTH - 2), cpfWeights)
}

/** A fictitious CNPJ of a head office (branch 0001) with valid check digits, digits only. */
export function cnpj(random: Random): string {
  return withCheckDigits(`${random.digits(CNPJ_LENGTH - 6)}0001`, cnpjWeights)
}

/** A fictitious CNPJ with letters, as new companies have since July 2026. */
export function cnpjWithLetters(random: Random): string {
  const letters = Array.from({ length: 3 }, () => random.pick([...CNPJ_LETTERS])).join('')
  const base = `${random.digits(2)}${letters}${random.digits(3)}0001`
  return withCheckDigits(base, cnpjWeights)
}

/** Formats a CPF as `000.000.000-00` and a CNPJ as `00.000.000/0000-00`. */
export function punctuated(document: string): string {
  return document.length === CPF_LENGTH
    ? document.replace(/^(...)(...)(...)(..)$/, '$1.$2.$3-$4')
    : document.replace(/^(..)(...)(...)(....)(..)$/, '$1.$2.$3/$4-$5')
}
