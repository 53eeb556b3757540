import { expect, it } from 'vitest'
import { newRequestId } from '../../../src/http/request-id.ts'

it('newRequestId returns a prefix and 32 hexadecimal digits', () => {
  expect(newRequestId()).toMatch(/^req_[0-9a-f]{32}$/)
})

it('newRequestId returns a different id on every call', () => {
  expect(new Set(Array.from({ length: 1000 }, () => newRequestId())).size).toBe(1000)
})
