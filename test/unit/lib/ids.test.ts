import { describe, expect, it } from 'vitest'
import { newKeyId, newRequestId } from '../../../src/lib/ids.ts'

describe.each([
  ['newRequestId', newRequestId, /^req_[0-9a-f]{32}$/],
  ['newKeyId', newKeyId, /^key_[0-9a-f]{32}$/],
])('%s', (_name, newId, form) => {
  it('returns a prefix and 32 hexadecimal digits', () => {
    expect(newId()).toMatch(form)
  })

  it('returns a different id on every call', () => {
    expect(new Set(Array.from({ length: 1000 }, newId)).size).toBe(1000)
  })
})
