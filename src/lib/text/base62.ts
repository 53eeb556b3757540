const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Digits that a number represents exactly; arithmetic on big integers is slow. */
const GROUP_DIGITS = 8
const GROUP = 62n ** BigInt(GROUP_DIGITS)

/** A non-negative integer in base 62, padded with zeros to `length` digits. */
export function toBase62(value: bigint, length: number): string {
  let digits = ''
  for (let rest = value; rest > 0n; rest /= GROUP) digits = groupDigits(rest % GROUP) + digits
  return digits.replace(/^0+/, '').padStart(length, '0')
}

function groupDigits(group: bigint): string {
  let digits = ''
  for (let rest = Number(group); digits.length < GROUP_DIGITS; rest = Math.floor(rest / 62))
    digits = DIGITS.charAt(rest % 62) + digits
  return digits
}

/** Converts random bytes to `length` base-62 digits. Surplus bytes make the bias negligible. */
export function base62FromBytes(bytes: Uint8Array, length: number): string {
  const value = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  return toBase62(value % 62n ** BigInt(length), length)
}
