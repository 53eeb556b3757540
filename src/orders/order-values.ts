/** The order `status`. */
export const orderStatuses = [
  'AWAITING_PAYMENT',
  'UNPAID',
  'PAID',
  'CANCELED',
  'SHIPPED',
  'DELIVERED',
  'REFUNDED',
  'DISPUTED',
  'TRIAL',
] as const
export type OrderStatus = (typeof orderStatuses)[number]

/** The values of `payment.status`. */
export const paymentStatuses = [
  'PENDING',
  'FAILED',
  'DECLINED',
  'PAID',
  'UNPAID',
  'PARTIALLY_REFUNDED',
  'REFUNDED',
  'DISPUTED',
  'TRIAL',
] as const
export type PaymentStatus = (typeof paymentStatuses)[number]

/** The methods of a single payment. */
export const singlePaymentMethods = ['CREDIT_CARD', 'BOLETO', 'PIX'] as const

/** The values of `payment.method`; MULTIPLE is a split payment. */
export const paymentMethods = [...singlePaymentMethods, 'MULTIPLE'] as const

/** The values of `payment.card.brand`; the list can grow. */
export const cardBrands = [
  'AMERICAN_EXPRESS',
  'DINERS_CLUB_INTERNATIONAL',
  'DISCOVER',
  'ELO',
  'ELO_DISCOVER',
  'HIPERCARD',
  'JCB',
  'MAESTRO',
  'MASTERCARD',
  'OUROCARD',
  'SODEXO',
  'UNIONPAY',
  'VISA',
] as const

/** The values of `navigator.device`; the list can grow. */
export const devices = ['Desktop', 'Mobile', 'Tablet'] as const

export const roles = ['OWNER', 'COPRODUCER'] as const
