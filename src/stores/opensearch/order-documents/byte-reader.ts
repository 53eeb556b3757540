const QUOTE = 0x22
const BACKSLASH = 0x5c
const ZERO = 0x30
const NINE = 0x39

/**
 * Reads JSON of an expected form from bytes, left to right. A mismatch marks the reader as failed,
 * and later values are meaningless: check `isValid` at the end.
 */
export class ByteReader {
  readonly bytes: Buffer
  offset = 0
  #hasFailed = false

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  /** Whether every read matched. */
  isValid(): boolean {
    return !this.#hasFailed
  }

  /** Marks the reader as failed. */
  fail(): void {
    this.#hasFailed = true
  }

  /** Reads exactly this ASCII text. */
  expectText(expected: string): void {
    if (this.startsWith(expected)) this.offset += expected.length
    else this.fail()
  }

  startsWith(expected: string): boolean {
    const { bytes, offset } = this
    for (let index = 0; index < expected.length; index += 1) {
      if (bytes[offset + index] !== expected.charCodeAt(index)) return false
    }
    return true
  }

  /** Skips a name without escapes up to its closing quote. */
  skipName(): void {
    const { bytes } = this
    let { offset } = this
    while (offset < bytes.length && bytes[offset] !== QUOTE && bytes[offset] !== BACKSLASH)
      offset += 1
    if (bytes[offset] !== QUOTE || offset === this.offset) this.fail()
    this.offset = offset
  }

  /** Skips all up to and including the next occurrence of this ASCII text. */
  skipPast(text: string): void {
    const at = this.bytes.indexOf(text, this.offset, 'latin1')
    if (at === -1) this.fail()
    else this.offset = at + text.length
  }

  /** Reads an integer without a sign. */
  readNumber(): number {
    const { bytes, offset: from } = this
    let offset = from
    let value = 0
    for (; offset < bytes.length; offset += 1) {
      const digit = (bytes[offset] ?? 0) - ZERO
      if (digit < 0 || digit > 9) break
      value = value * 10 + digit
    }
    if (offset === from || !Number.isSafeInteger(value)) this.fail()
    this.offset = offset
    return value
  }

  /** Reads a number of this many lowercase hexadecimal digits. */
  readHex(digits: number): number {
    let value = 0
    for (const end = this.offset + digits; this.offset < end; this.offset += 1) {
      const digit = hexDigit(this.bytes[this.offset])
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
