import type { DeliveredType } from '../../webhooks/events/event-types.ts'

interface EventDescription {
  summary: string
  /** When it is sent, as the guide's table states it. */
  when: string
}

/** Every event type, in Portuguese, in the order of the documentation. */
export const eventDescriptions = {
  'order.created': {
    summary: 'Pedido visto pela primeira vez',
    when: 'a conta passa a ver o pedido: ele é novo, ela entrou como coprodutora, ou ele voltou depois de um `order.removed`',
  },
  'order.awaiting_payment': {
    summary: 'Pedido à espera de pagamento',
    when: 'PIX ou boleto emitido e ainda pagável; primeira parte de um pagamento dividido; início de um parcelamento inteligente',
  },
  'order.paid': {
    summary: 'Pedido pago',
    when: 'todo pagamento cobrado está pago',
  },
  'order.unpaid': {
    summary: 'Cobrança sem pagamento',
    when: 'cartão recusado, PIX ou boleto vencido, teste encerrado sem conversão, assinatura cancelada na inadimplência',
  },
  'order.canceled': {
    summary: 'Pedido cancelado',
    when: 'pagamento dividido não concluído em 20 minutos; as partes pagas são reembolsadas',
  },
  'order.refunded': {
    summary: 'Pedido reembolsado',
    when: 'todo pagamento cobrado foi reembolsado por inteiro',
  },
  'order.disputed': {
    summary: 'Chargeback',
    when: 'chargeback em todo pagamento cobrado',
  },
  'order.dispute_won': {
    summary: 'Disputa ganha',
    when: 'o pedido volta de `DISPUTED` para `PAID`; `order.paid` não vem junto',
  },
  'order.trial_started': {
    summary: 'Teste de assinatura iniciado',
    when: 'o cartão foi guardado sem cobrança; os valores são 0',
  },
  'order.payment_declined': {
    summary: 'Pagamento recusado',
    when: 'o último pagamento foi recusado; `decline_code` traz o motivo',
  },
  'order.payment_expired': {
    summary: 'Pagamento vencido',
    when: 'o PIX ou o boleto do último pagamento venceu',
  },
  'order.payment_received': {
    summary: 'Renovação ou parcela paga',
    when: 'entrou outro pagamento num pedido que continua `PAID`',
  },
  'order.partially_refunded': {
    summary: 'Reembolso parcial',
    when: '`payment.amount_refunded` cresceu e o pedido continua `PAID`',
  },
  'order.updated': {
    summary: 'Outra mudança visível',
    when: 'mudou algo que nenhum outro tipo anuncia: comprador, endereço, itens, oferta, cupom, UTM ou metadados',
  },
  'order.removed': {
    summary: 'Pedido removido',
    when: 'o pedido foi apagado, ou a conta deixou de participar dele; só o id, para você apagar a sua cópia',
  },
  'webhook.test': {
    summary: 'Teste',
    when: 'só a pedido, para conferir o seu receptor; `order_id` e `sequence` são `null`',
  },
} as const satisfies Record<DeliveredType, EventDescription>
