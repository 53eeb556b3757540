import { cardBrands, paymentMethods, paymentStatuses } from '../order-values.ts'
import { describeValues, paymentStatusDescriptions } from './descriptions.ts'
import {
  cents,
  instant,
  integer,
  nullable,
  oneOf,
  openList,
  orNull,
  pattern,
  resource,
  text,
} from './types.ts'

export const declineCodePattern = '^[A-Z]{2}-\\d{4}$'

export const Card = resource('Card', 'Cartão do último pagamento.', {
  brand: nullable(
    openList(
      cardBrands,
      'Bandeira. A lista pode crescer; `null` quando não é reconhecida.',
      'VISA',
    ),
  ),
  last4: pattern('^\\d{4}$', 'Últimos 4 dígitos do cartão.', '4242'),
})

export const Payment = resource(
  'Payment',
  'O pagamento mais recente, pela data de criação. Os valores somam as partes pagas só quando `method` é `MULTIPLE`; nos outros casos são os do último pagamento.',
  {
    method: oneOf(
      paymentMethods,
      'Método do último pagamento. `MULTIPLE` é um pagamento dividido em 2 ou mais, por cartão e/ou PIX.',
      'PIX',
    ),
    status: oneOf(
      paymentStatuses,
      describeValues('Status do último pagamento.', paymentStatusDescriptions),
      'PAID',
    ),
    installments: nullable(
      integer(1, 'Número de parcelas (PIX e boleto: 1); `null` só em registros antigos.', 1),
    ),
    amount: cents(
      'Valor cobrado no último pagamento, em centavos (dividido: soma das partes pagas); 0 quando o status é `TRIAL`.',
      9900,
    ),
    interest_amount: cents('Juros do parcelamento, em centavos.', 0),
    discount_amount: cents(
      'Desconto do pagamento, em centavos, positivo: cupom, método de pagamento e quantidade.',
      0,
    ),
    fee: cents(
      'Tarifa da plataforma pelo plano da conta, em centavos; não inclui a tarifa do adquirente nem a comissão de afiliados.',
      690,
    ),
    amount_refunded: nullable(cents('Total reembolsado, acumulado e bruto, em centavos.', 9900)),
    refunded_at: nullable(
      instant('Instante do reembolso do último pagamento.', '2026-03-02T09:00:00.000Z'),
    ),
    decline_code: nullable(
      pattern(
        declineCodePattern,
        'Motivo padronizado da recusa, igual ao do webhook; `null` quando o último pagamento não foi recusado.',
        'AB-0051',
      ),
    ),
    decline_message: nullable(
      text('Texto do motivo da recusa, para mostrar ao comprador.', 'Saldo insuficiente'),
    ),
    card: orNull(Card),
  },
)
