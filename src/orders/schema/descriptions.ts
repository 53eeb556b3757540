import type { OrderStatus, PaymentStatus } from '../order-values.ts'

/** The meaning of each order `status`, in Portuguese, for the API reference. */
export const orderStatusDescriptions = {
  AWAITING_PAYMENT:
    'PIX ou boleto emitido e ainda pagável; também um pagamento dividido entre a primeira e a segunda parte, e o início de um parcelamento inteligente',
  UNPAID:
    'cobrança tentada sem pagamento: cartão recusado, PIX ou boleto vencido, teste encerrado sem conversão, assinatura cancelada na inadimplência',
  PAID: 'todo pagamento cobrado está pago; um reembolso parcial mantém este status',
  CANCELED: 'pagamento dividido não concluído em 20 minutos; as partes pagas são reembolsadas',
  SHIPPED: 'reservado, não usado hoje; seu programa deve aceitá-lo',
  DELIVERED: 'reservado, não usado hoje; seu programa deve aceitá-lo',
  REFUNDED: 'todo pagamento cobrado foi reembolsado por inteiro',
  DISPUTED: 'chargeback em todo pagamento cobrado',
  TRIAL: 'assinatura em teste, cartão guardado sem cobrança; os valores são 0',
} as const satisfies Record<OrderStatus, string>

/** The meaning of each `payment.status`, in Portuguese, for the API reference. */
export const paymentStatusDescriptions = {
  PENDING: 'em andamento',
  FAILED: 'não chegou ao banco (falha de comunicação da plataforma)',
  DECLINED: 'recusado pelo banco, pelo adquirente ou pelo antifraude',
  PAID: 'pago',
  UNPAID: 'PIX ou boleto vencido',
  PARTIALLY_REFUNDED: 'reembolsado em parte',
  REFUNDED: 'reembolsado por inteiro',
  DISPUTED: 'chargeback',
  TRIAL: 'teste de assinatura, sem cobrança',
} as const satisfies Record<PaymentStatus, string>

/** Formats a description with one line per value. */
export function describeValues(intro: string, descriptions: Record<string, string>): string {
  const lines = Object.entries(descriptions).map(
    ([value, description]) => `- \`${value}\`: ${description}.`,
  )
  return [intro, '', ...lines].join('\n')
}
