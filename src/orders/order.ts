import { type Static, Type } from '@sinclair/typebox'
import { orderStatuses, roles } from './order-values.ts'
import { Metadata, Navigator, Tracking, Utm } from './schema/attribution.ts'
import { Customer, ShippingAddress } from './schema/customer.ts'
import { describeValues, orderStatusDescriptions } from './schema/descriptions.ts'
import { Item, Offer, Promocode } from './schema/items.ts'
import { Payment } from './schema/payment.ts'
import { cents, instant, nullable, oneOf, orNull, pattern, resource } from './schema/types.ts'

/** The schema version of stored orders. Increment it with every field added below. */
export const ORDER_SCHEMA_VERSION = 1

export const orderIdPattern = '^ord_[A-Za-z0-9_-]{1,60}$'
const ORDER_ID = new RegExp(orderIdPattern)

/** Whether a text has the form of an order id. */
export function isOrderId(text: string): boolean {
  return ORDER_ID.test(text)
}

/** The public order. Every key is always present, with `null` where it has no value. */
export const Order = resource('Order', 'Pedido.', {
  object: Type.Literal('order', { description: 'Sempre `order`.' }),
  id: pattern(orderIdPattern, 'Identificador do pedido, prefixo `ord_`.', 'ord_1aB2cD3eF4gH5iJ6'),
  role: oneOf(
    roles,
    'Papel da conta no pedido. O coprodutor vê os valores do pedido inteiro; para ele `tracking` e `navigator` são sempre `null`.',
    'OWNER',
  ),
  status: oneOf(
    orderStatuses,
    describeValues(
      'Status do pedido; um pedido pode mudar de status mais de uma vez, em qualquer direção.',
      orderStatusDescriptions,
    ),
    'PAID',
  ),
  currency: nullable(pattern('^[A-Z]{3}$', 'Moeda, código ISO 4217.', 'BRL')),
  amount_total: cents(
    'Valor cobrado no checkout, em centavos. No parcelamento inteligente é o valor total do contrato.',
    9900,
  ),
  amount_subtotal: nullable(
    cents('Soma de preço vezes quantidade dos produtos, em centavos.', 9900),
  ),
  amount_in_brl: nullable(cents('Total em BRL, em centavos.', 9900)),
  created_at: instant('Instante de criação.', '2026-03-01T12:00:00.000Z'),
  paid_at: nullable(instant('Instante em que o pedido foi pago.', '2026-03-01T12:04:10.000Z')),
  canceled_at: nullable(instant('Instante do cancelamento.', '2026-03-01T12:20:00.000Z')),
  // No object with keys of the source, such as `metadata`, may precede it (see `order-views.ts`).
  updated_at: nullable(
    instant(
      'Instante, em UTC com milissegundos, em que algum campo deste objeto mudou pela última vez; `null` enquanto o pedido não tiver passado pela carga inicial.',
      '2026-03-01T12:05:00.000Z',
    ),
  ),
  customer: Customer,
  shipping_address: orNull(ShippingAddress),
  payment: Payment,
  items: Type.Array(Item, { description: 'Produtos do pedido.' }),
  offer: orNull(Offer),
  promocode: orNull(Promocode),
  utm: orNull(Utm),
  tracking: orNull(Tracking),
  navigator: orNull(Navigator),
  metadata: orNull(Metadata),
})
export type Order = Static<typeof Order>
