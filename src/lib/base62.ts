const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** A non-negative integer in base 62, padded with zeros to `length` digits. */
export function toBase62(value: bigint, length: number): string {
  let digits = ''
  for (let rest = value; rest > 0n; rest /= 62n) digits = DIGITS.charAt(Number(rest % 62n)) + digits
  return digits.padStart(length, '0')
}

/** Converts random bytes to `length` base-62 digits. Surplus bytes make the bias negligible. */
export function base62FromBytes(bytes: Uint8Array, length: number): string {
  const value = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  return toBase62(value, length).slice(-length)
}
