/** Order `status` (contract, "States and transitions"); SHIPPED and DELIVERED are reserved. */
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

/** `payment.status` of the contract. */
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

/** The methods a single payment can have. */
export const singlePaymentMethods = ['CREDIT_CARD', 'BOLETO', 'PIX'] as const

/** `payment.method` of the contract: MULTIPLE is a payment split in parts. */
export const paymentMethods = [...singlePaymentMethods, 'MULTIPLE'] as const
export type PaymentMethod = (typeof paymentMethods)[number]

/** `payment.card.brand`: an open list, which may grow. */
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

/** `navigator.device`: an open list, which may grow. */
export const devices = ['Desktop', 'Mobile', 'Tablet'] as const

export const roles = ['OWNER', 'COPRODUCER'] as const
