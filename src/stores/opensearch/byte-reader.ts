const QUOTE = 0x22
const BACKSLASH = 0x5c
const ZERO = 0x30
const NINE = 0x39

/**
 * Reads JSON as it lies in the bytes, from left to right, piece by piece as it is expected to be. A piece that
 * is not there fails the reading, and whatever is read after that means nothing: ask `isRight` in the end.
 */
export class ByteReader {
  readonly bytes: Buffer
  at = 0
  #isWrong = false

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  /** Whether all that was expected was there. */
  isRight(): boolean {
    return !this.#isWrong
  }

  /** What was read is not as it has to be, for a reason of the grammar's own. */
  fail(): void {
    this.#isWrong = true
  }

  /** Just this text, of single bytes. */
  text(expected: string): void {
    if (this.isNext(expected)) this.at += expected.length
    else this.fail()
  }

  isNext(expected: string): boolean {
    const { bytes, at } = this
    for (let index = 0; index < expected.length; index += 1) {
      if (bytes[at + index] !== expected.charCodeAt(index)) return false
    }
    return true
  }

  /** What is between two quotes, the first of which is behind it already: a name without escapes. */
  name(): void {
    const { bytes } = this
    let { at } = this
    while (at < bytes.length && bytes[at] !== QUOTE && bytes[at] !== BACKSLASH) at += 1
    if (bytes[at] !== QUOTE || at === this.at) this.fail()
    this.at = at
  }

  /** A whole number without a sign. */
  number(): number {
    const { bytes } = this
    const from = this.at
    let value = 0
    for (let digit = bytes[this.at]; digit !== undefined && digit >= ZERO && digit <= NINE; ) {
      value = value * 10 + digit - ZERO
      this.at += 1
      digit = bytes[this.at]
    }
    if (this.at === from || !Number.isSafeInteger(value)) this.fail()
    return value
  }

  /** A number of so many hexadecimal digits, in small letters. */
  hex(digits: number): number {
    let value = 0
    for (const end = this.at + digits; this.at < end; this.at += 1) {
      const digit = hexDigit(this.bytes[this.at])
      if (digit === undefined) this.fail()
      else value = value * 16 + digit
    }
    return value
  }
}

function hexDigit(byte = 0): number | undefined {
  if (byte >= ZERO && byte <= NINE) return byte - ZERO
  const letter = byte - 0x61
  return letter >= 0 && letter < 6 ? letter + 10 : undefined
}
