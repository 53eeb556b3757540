/** An integer of cents in the currency's unit, by its digits alone: a float would lose some. */
export function reais(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, '0')
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)},${digits.slice(-2)}`
}

const DIGITS = { useGrouping: false, maximumSignificantDigits: 17 }

/** A number without thousands and without an exponent, which Excel would show instead of the digits. */
export function decimalComma(number: number): string {
  return number.toLocaleString('pt-BR', DIGITS)
}
