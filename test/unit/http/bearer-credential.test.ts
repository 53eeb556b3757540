import { describe, expect, it } from 'vitest'
import { bearerCredential } from '../../../src/http/headers.ts'

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
    expect(bearerCredential(['Authorization', header])).toBe(key)
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
    expect(bearerCredential(['Authorization', header])).toBeUndefined()
  })

  it.each([
    ['no header', []],
    ['two headers', ['Authorization', 'Bearer a', 'authorization', 'Bearer a']],
    ['a value that names the header', ['X-Note', 'authorization', 'Host', 'Bearer a']],
  ])('returns undefined for %s', (_what, rawHeaders) => {
    expect(bearerCredential(rawHeaders)).toBeUndefined()
  })
})
