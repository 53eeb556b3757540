import { describe, expect, it } from 'vitest'
import { lookupColumns, lookupsOf } from '../../../src/orders/lookups.ts'
import type { Order } from '../../../src/orders/order.ts'

const emailsOf = (email: unknown) =>
  lookupsOf({ customer: { email } as Order['customer'] }).customer_email

describe('the e-mail by which a filter finds an order', () => {
  it.each([
    ['Ana@Exemplo.COM.br', ['ana@exemplo.com.br']],
    [' ana@exemplo.com.br ', ['ana@exemplo.com.br']],
    ['ana maria@exemplo.com.br', []],
    ['ana', []],
    ['', []],
    [null, []],
  ])('of %j is %j', (email, expected) => {
    expect(emailsOf(email)).toEqual(expected)
  })
})

it('the columns of exact texts are those that this list confirms to have a migration', () => {
  const step = 'give it one, then add it here: "How to add a filter" in CONTRIBUTING.md'
  expect(lookupColumns, step).toEqual(['customer_email', 'customer_document', 'product_ids'])
})
