import type { DeliveredType } from '../../webhooks/events/event-types.ts'

interface EventDescription {
  title: string
  /** When it is sent, as the guide's table states it. */
  when: string
}

/** Every event type, in Portuguese, in the order of the documentation. */
export const eventDescriptions = {
  'order.created': {
    title: 'Pedido visto pela primeira vez',
    when: 'a conta passa a ver o pedido: ele é novo, ela entrou como coprodutora, ou ele voltou depois de um `order.removed`',
  },
  'order.awaiting_payment': {
    title: 'Pedido à espera de pagamento',
    when: 'PIX ou boleto emitido e ainda pagável; primeira parte de um pagamento dividido; início de um parcelamento inteligente',
  },
  'order.paid': {
    title: 'Pedido pago',
    when: 'todo pagamento cobrado está pago',
  },
  'order.unpaid': {
    title: 'Cobrança sem pagamento',
    when: 'cartão recusado, PIX ou boleto vencido, teste encerrado sem conversão, assinatura cancelada na inadimplência',
  },
  'order.canceled': {
    title: 'Pedido cancelado',
    when: 'pagamento dividido não concluído em 20 minutos; as partes pagas são reembolsadas',
  },
  'order.refunded': {
    title: 'Pedido reembolsado',
    when: 'todo pagamento cobrado foi reembolsado por inteiro',
  },
  'order.disputed': {
    title: 'Chargeback',
    when: 'chargeback em todo pagamento cobrado',
  },
  'order.dispute_won': {
    title: 'Disputa ganha',
    when: 'o pedido volta de `DISPUTED` para `PAID`; `order.paid` não vem junto',
  },
  'order.trial_started': {
    title: 'Teste de assinatura iniciado',
    when: 'o cartão foi guardado sem cobrança; os valores são 0',
  },
  'order.payment_declined': {
    title: 'Pagamento recusado',
    when: 'o último pagamento foi recusado; `decline_code` traz o motivo',
  },
  'order.payment_expired': {
    title: 'Pagamento vencido',
    when: 'o PIX ou o boleto do último pagamento venceu',
  },
  'order.payment_received': {
    title: 'Renovação ou parcela paga',
    when: 'entrou outro pagamento num pedido que continua `PAID`',
  },
  'order.partially_refunded': {
    title: 'Reembolso parcial',
    when: '`payment.amount_refunded` cresceu, sem que o pedido fosse reembolsado por inteiro; ou a conta viu o pedido pela primeira vez já com um reembolso parcial',
  },
  'order.updated': {
    title: 'Outra mudança visível',
    when: 'mudou algo que nenhum outro tipo anuncia: comprador, endereço, itens, oferta, cupom, UTM, metadados, ou o pagamento (uma renovação pendente, por exemplo)',
  },
  'order.removed': {
    title: 'Pedido removido',
    when: 'o pedido foi apagado, ou a conta deixou de participar dele; só o id, para você apagar a sua cópia',
  },
  'webhook.test': {
    title: 'Teste',
    when: 'só a pedido, para conferir o seu receptor; `order_id` e `sequence` são `null`',
  },
} as const satisfies Record<DeliveredType, EventDescription>
