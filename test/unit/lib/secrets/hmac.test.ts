import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hmacSha256 } from '../../../../src/lib/secrets/hmac.ts'

/** From RFC 4231, whose keys have 20, 4 and 131 bytes. */
const vectors = [
  {
    key: Buffer.alloc(20, 0x0b),
    message: 'Hi There',
    mac: 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
  },
  {
    key: Buffer.from('Jefe'),
    message: 'what do ya want for nothing?',
    mac: '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  },
  {
    key: Buffer.alloc(131, 0xaa),
    message: 'Test Using Larger Than Block-Size Key - Hash Key First',
    mac: '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
  },
]

describe('hmacSha256', () => {
  it.each(vectors)('has the published MAC of "$message"', ({ key, message, mac }) => {
    expect(hmacSha256(key, message).toString('hex')).toBe(mac)
  })

  it('equals the HMAC of OpenSSL for every secret and every split of a message', () => {
    const text = fc.string({ unit: 'binary', maxLength: 200 })
    const bytes = fc.uint8Array({ maxLength: 5_000 })
    const secret = fc.uint8Array({ maxLength: 150 })
    fc.assert(
      fc.property(secret, fc.array(fc.oneof(text, bytes), { maxLength: 4 }), (key, parts) => {
        const expected = createHmac('sha256', key)
        for (const part of parts) expected.update(part)
        expect(hmacSha256(key, ...parts)).toEqual(expected.digest())
      }),
    )
  })

  it.each([4_031, 4_032, 4_033, 20_000])('equals it for a message of %d bytes', (length) => {
    const secret = Buffer.alloc(32, 7)
    const message = Buffer.alloc(length, 'message')
    const expected = createHmac('sha256', secret).update(message).digest()
    expect(hmacSha256(secret, message.subarray(0, 9), message.subarray(9))).toEqual(expected)
  })

  it('returns MACs that a later call leaves alone', () => {
    const secret = Buffer.alloc(32, 1)
    const first = hmacSha256(secret, 'one')
    const copy = Buffer.from(first)
    hmacSha256(secret, 'another')
    expect(first).toEqual(copy)
  })
})
