import { describe, expect, it } from 'vitest'
import { sorts } from '../../../src/orders/order-store.ts'
import {
  cardBrands,
  devices,
  orderStatuses,
  paymentMethods,
  paymentStatuses,
  roles,
} from '../../../src/orders/order-values.ts'

describe('the documented values', () => {
  it.each([
    [
      'order statuses',
      orderStatuses,
      'AWAITING_PAYMENT UNPAID PAID CANCELED SHIPPED DELIVERED REFUNDED DISPUTED TRIAL',
    ],
    [
      'payment statuses',
      paymentStatuses,
      'PENDING FAILED DECLINED PAID UNPAID PARTIALLY_REFUNDED REFUNDED DISPUTED TRIAL',
    ],
    ['payment methods', paymentMethods, 'CREDIT_CARD BOLETO PIX MULTIPLE'],
    ['roles', roles, 'OWNER COPRODUCER'],
    ['devices', devices, 'Desktop Mobile Tablet'],
    ['sorts', sorts, 'created_at_desc updated_at_asc'],
    [
      'card brands',
      cardBrands,
      'AMERICAN_EXPRESS DINERS_CLUB_INTERNATIONAL DISCOVER ELO ELO_DISCOVER HIPERCARD JCB MAESTRO MASTERCARD OUROCARD SODEXO UNIONPAY VISA',
    ],
  ])('the documented values are complete: %s', (_name, values, documented) => {
    expect(values.join(' ')).toBe(documented)
  })
})
