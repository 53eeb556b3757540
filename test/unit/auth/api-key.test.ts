import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  demoApiKey,
  generateApiKey,
  isWellFormedKey,
  keyDigest,
} from '../../../src/auth/api-key.ts'

const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const pepper = Buffer.alloc(32, 7)
const KEY = demoApiKey(pepper)

/** CRC-32 bit by bit, then six digits: independent of the code under test. */
function checksum(text: string): string {
  let crc = 0xffffffff
  for (const byte of Buffer.from(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  let rest = (crc ^ 0xffffffff) >>> 0
  let digits = ''
  for (let place = 0; place < 6; place++) {
    digits = LETTERS.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

const withCharacter = (key: string, at: number, letter: string) =>
  key.slice(0, at) + letter + key.slice(at + 1)

describe('generateApiKey', () => {
  it('generates key_live_ with 32 base-62 digits and a checksum of 6', () => {
    expect(generateApiKey()).toMatch(/^key_live_[0-9A-Za-z]{38}$/)
  })

  it('generates key_test_ in the same form for the sandbox', () => {
    const key = generateApiKey('test')
    expect(key).toMatch(/^key_test_[0-9A-Za-z]{38}$/)
    expect(isWellFormedKey(key)).toBe(true)
    expect(isWellFormedKey(key.replace('test', 'live'))).toBe(false)
  })

  it('a generated key ends with the CRC-32 of the rest in base 62', () => {
    const keys = Array.from({ length: 50 }, generateApiKey)
    expect(keys.map((key) => key.slice(-6))).toEqual(keys.map((key) => checksum(key.slice(0, -6))))
  })

  it('generates a different key on every call', () => {
    expect(new Set(Array.from({ length: 1000 }, generateApiKey)).size).toBe(1000)
  })
})

describe('isWellFormedKey', () => {
  it('accepts every generated key', () => {
    expect(Array.from({ length: 200 }, generateApiKey).every(isWellFormedKey)).toBe(true)
  })

  it('rejects a key with any one character altered', () => {
    for (const key of [KEY, generateApiKey(), generateApiKey()]) {
      const accepted = [...key].flatMap((own, at) =>
        [...LETTERS, '_', '-', ' ', '\n', 'é']
          .filter((letter) => letter !== own)
          .map((letter) => withCharacter(key, at, letter))
          .filter(isWellFormedKey),
      )
      expect(accepted).toEqual([])
    }
  })

  it('rejects a key with two neighbouring characters swapped', () => {
    const swapped = [...KEY].map(
      (_, at) => KEY.slice(0, at) + KEY.charAt(at + 1) + KEY.charAt(at) + KEY.slice(at + 2),
    )
    expect(swapped.filter((key) => key !== KEY && isWellFormedKey(key))).toEqual([])
  })

  it.each([
    ['an empty text', ''],
    ['the prefix alone', 'key_live_'],
    ['a truncated key', KEY.slice(0, -1)],
    ['a key with an additional character', `${KEY}0`],
    ['a line break after the key', `${KEY}\n`],
    ['a space before the key', ` ${KEY}`],
    ['the prefix in capitals', KEY.replace('key_live_', 'KEY_LIVE_')],
    ['the prefix of a test key', KEY.replace('key_live_', 'key_test_')],
    ['digits without a checksum', `key_live_${'0'.repeat(38)}`],
  ])('rejects %s', (_name, text) => {
    expect(isWellFormedKey(text)).toBe(false)
  })
})

describe('keyDigest', () => {
  it('the digest is the HMAC-SHA-256 of the key with the pepper, in hexadecimal', () => {
    expect(keyDigest(pepper, KEY)).toBe(createHmac('sha256', pepper).update(KEY).digest('hex'))
  })

  it('depends on the pepper', () => {
    expect(keyDigest(Buffer.alloc(32, 8), KEY)).not.toBe(keyDigest(pepper, KEY))
  })

  it('the digest depends on the key', () => {
    expect(keyDigest(pepper, generateApiKey())).not.toBe(keyDigest(pepper, KEY))
  })
})

describe('demoApiKey', () => {
  it('the demo key is the same at every start with the same pepper', () => {
    expect(demoApiKey(pepper)).toBe('key_live_sT8pM1oVozMouKFyFtGSBoXGoby5Mx8x0jTEH7')
  })

  it('depends on the pepper', () => {
    expect(demoApiKey(Buffer.alloc(32, 8))).not.toBe(KEY)
  })

  it('the demo key is well formed', () => {
    expect(isWellFormedKey(KEY)).toBe(true)
  })
})
