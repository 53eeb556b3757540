const moment = new Intl.DateTimeFormat('pt-BR', { dateStyle: 'short', timeStyle: 'short' })
const date = new Intl.DateTimeFormat('pt-BR', { dateStyle: 'medium' })
const dayOfMonth = new Intl.DateTimeFormat('pt-BR', {
  day: '2-digit',
  month: '2-digit',
  timeZone: 'UTC',
})
const relative = new Intl.RelativeTimeFormat('pt-BR', { numeric: 'auto' })
const whole = new Intl.NumberFormat('pt-BR')

/** `23/11/2026, 08:30`, in the time zone of the user. */
export const formatMoment = (instant) => moment.format(new Date(instant))

/** `23 de nov. de 2026`. */
export const formatDate = (instant) => date.format(new Date(instant))

/** `23/11`, of a day `2026-11-23`. */
export const formatDay = (day) => dayOfMonth.format(new Date(`${day}T00:00:00Z`))

export const formatNumber = (number) => whole.format(number)

/** `há 2 horas`. `nowMs`: epoch milliseconds. */
export function formatAgo(instant, nowMs = Date.now()) {
  const seconds = Math.round((Date.parse(instant) - nowMs) / 1_000)
  const past = Math.abs(seconds)
  if (past < 45) return 'agora há pouco'
  if (past < 3_600) return relative.format(Math.round(seconds / 60), 'minute')
  if (past < 86_400) return relative.format(Math.round(seconds / 3_600), 'hour')
  if (past < 30 * 86_400) return relative.format(Math.round(seconds / 86_400), 'day')
  return formatDate(instant)
}

/** `R$ 99,00`, of cents. An old order has no currency. */
export function formatMoney(cents, currency) {
  const options = { style: 'currency', currency: currency ?? 'BRL' }
  return new Intl.NumberFormat('pt-BR', options).format(cents / 100)
}

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
  canceled: ['Cancelada', 'off'],
  expired: ['Falhou de vez', 'bad'],
}
