import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sourceOrders } from '../../../support/orders/arbitraries.ts'
import { wholeOrder } from '../../../support/orders/changes.ts'
import { unusedFields } from '../../../support/orders/source-fields.ts'

it('the whole order of test/support/orders/changes.ts has every field of a source order', () => {
  // A payment that is part of no split, and an order that was not canceled.
  const except = ['payments.split_group', 'canceled_at']
  expect(unusedFields([wholeOrder], except), 'add these fields to wholeOrder').toEqual([])
})

it('the generated orders of test/support/orders/arbitraries.ts have every field', () => {
  const samples = fc.sample(sourceOrders, { numRuns: 500, seed: 1 })
  expect(unusedFields(samples), 'add these fields to sourceOrders').toEqual([])
})
