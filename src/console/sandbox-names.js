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
