import { expect, it } from 'vitest'
import { newKeyId } from '../../../src/auth/key-id.ts'

it('newKeyId returns a prefix and 32 hexadecimal digits', () => {
  expect(newKeyId()).toMatch(/^key_[0-9a-f]{32}$/)
})

it('newKeyId returns a different id on every call', () => {
  expect(new Set(Array.from({ length: 1000 }, () => newKeyId())).size).toBe(1000)
})
