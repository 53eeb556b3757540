import { describe, expect, it } from 'vitest'
import { lookupsOf } from '../../../src/orders/lookups.ts'
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
