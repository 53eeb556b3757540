// The names that the console shows for the values of the API.

/** The events of webhooks, in words. */
export const EVENT_NAMES = {
  'order.created': 'Pedido novo',
  'order.awaiting_payment': 'Pedido à espera de pagamento',
  'order.paid': 'Pedido pago',
  'order.unpaid': 'Cobrança sem pagamento',
  'order.canceled': 'Pedido cancelado',
  'order.refunded': 'Pedido reembolsado',
  'order.disputed': 'Chargeback aberto',
  'order.dispute_won': 'Disputa ganha',
  'order.trial_started': 'Período grátis iniciado',
  'order.payment_declined': 'Pagamento recusado',
  'order.payment_expired': 'PIX ou boleto vencido',
  'order.payment_received': 'Renovação ou parcela paga',
  'order.partially_refunded': 'Reembolso parcial',
  'order.updated': 'Outra mudança no pedido',
  'order.removed': 'Pedido removido da conta',
}

/** `Pedido pago`, of `order.paid`. */
export const eventName = (type) =>
  type === 'webhook.test' ? 'Aviso de teste' : (EVENT_NAMES[type] ?? type)

/** A different name for each webhook: those that would be equal end with the end of their id. */
export function webhookNames(endpoints, nameOf) {
  const names = endpoints.map((one) => (one.test ? `${nameOf(one)} (teste)` : nameOf(one)))
  return names.map((name, at) =>
    names.indexOf(name) === names.lastIndexOf(name)
      ? name
      : `${name}, …${endpoints[at].id.slice(-4)}`,
  )
}

/** Order status → its name, and the tone of its badge. */
export const ORDER_STATUSES = {
  AWAITING_PAYMENT: ['À espera de pagamento', 'wait'],
  UNPAID: ['Não pago', 'bad'],
  PAID: ['Pago', 'good'],
  CANCELED: ['Cancelado', 'off'],
  SHIPPED: ['Enviado', 'off'], // This and the next are reserved, not used today.
  DELIVERED: ['Entregue', 'off'],
  REFUNDED: ['Reembolsado', 'off'],
  DISPUTED: ['Chargeback', 'bad'],
  TRIAL: ['Período grátis', 'wait'],
}

export const METHOD_NAMES = {
  CREDIT_CARD: 'Cartão',
  BOLETO: 'Boleto',
  PIX: 'PIX',
  MULTIPLE: 'Pagamento dividido',
}

/** State of a delivery → its name, and the tone of its badge. */
export const DELIVERY_STATES = {
  pending: ['Na fila', 'wait'],
  delivered: ['Entregue', 'good'],
  failed: ['Falhou', 'bad'],
  held: ['Em espera', 'off'],
  canceled: ['Cancelado', 'off'],
  expired: ['Falhou de vez', 'bad'],
}

/** Payment status → what a card says about the last payment. */
const PAYMENT_STATUSES = {
  PENDING: 'em aberto',
  FAILED: 'não chegou ao banco',
  DECLINED: 'recusado',
  PAID: 'pago',
  UNPAID: 'venceu sem ser pago',
  PARTIALLY_REFUNDED: 'reembolsado em parte',
  REFUNDED: 'reembolsado',
  DISPUTED: 'chargeback aberto',
  TRIAL: 'nada cobrado ainda',
}

/** Move → the text of its button. */
const MOVES = {
  pay: 'Pagar',
  decline: 'Recusar o pagamento',
  renew: 'Renovar assinatura',
  refund: 'Reembolsar',
  dispute: 'Abrir chargeback',
  win: 'Ganhar a disputa',
  cancel: 'Cancelar assinatura',
  erase: 'Apagar',
}

/** Status → the moves that have another name there. A PIX or boleto is not declined: it expires. */
const MOVES_BY_STATUS = {
  AWAITING_PAYMENT: { decline: 'Deixar vencer', cancel: 'Cancelar pedido' },
  PAID: { decline: 'Recusar a renovação' },
  UNPAID: { decline: 'Recusar de novo' },
}

/** `Pagar`, of the move `pay` of an order with this status. */
export const moveName = (move, status) => MOVES_BY_STATUS[status]?.[move] ?? MOVES[move] ?? move

/** `pago`, of `PAID`; of an order without payment, `null`. */
export const paymentStatusName = (status) => status && (PAYMENT_STATUSES[status] ?? status)
