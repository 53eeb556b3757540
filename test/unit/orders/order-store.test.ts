import { expect, it } from 'vitest'
import { NULL_INSTANT_KEY } from '../../../src/orders/order-store.ts'

it('the key of an order without updated_at is exact in JSON and after every valid date', () => {
  expect(JSON.parse(String(NULL_INSTANT_KEY))).toBe(NULL_INSTANT_KEY)
  expect(Number.isSafeInteger(NULL_INSTANT_KEY)).toBe(true)
  expect(new Date(NULL_INSTANT_KEY + 1).getTime()).toBeNaN()
})
