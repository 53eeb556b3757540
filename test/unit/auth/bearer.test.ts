import { describe, expect, it } from 'vitest'
import { bearerCredential } from '../../../src/auth/api-key.ts'

describe('bearerCredential', () => {
  it.each([
    ['Bearer key_live_abc', 'key_live_abc'],
    ['bearer key_live_abc', 'key_live_abc'],
    ['BEARER key_live_abc', 'key_live_abc'],
    ['bEaReR key_live_abc', 'key_live_abc'],
    ['Bearer a', 'a'],
    ['Bearer Bearer', 'Bearer'],
    ['Bearer a,b', 'a,b'],
  ])('returns the key of the header %j', (header, key) => {
    expect(bearerCredential(header)).toBe(key)
  })

  it.each([
    '',
    ' ',
    'Bearer',
    'Bearer ',
    'Bearerkey_live_abc',
    'key_live_abc',
    'Bearer  key_live_abc',
    ' Bearer key_live_abc',
    'Bearer key_live_abc ',
    'Bearer key live',
    'Bearer\tkey_live_abc',
    'Bearer key_live_abc\n',
    'Bearer key_live_abc, Bearer key_live_def',
    'Basic a2V5X2xpdmVfYWJjOg==',
    'Token key_live_abc',
    'Bearer: key_live_abc',
    'BearerX key_live_abc',
  ])('returns undefined for the header %j', (header) => {
    expect(bearerCredential(header)).toBeUndefined()
  })
})
