import { cents, integer, nullable, pattern, resource, text } from './types.ts'

export const productIdPattern = '^prod_.+$'
export const offerIdPattern = '^prod_offer_.+$'
export const planIdPattern = '^prod_offer_plan_.+$'
export const orderBumpIdPattern = '^ob_.+$'

const offerId = (description: string) => pattern(offerIdPattern, description, 'prod_offer_1')

export const Item = resource('Item', 'Um produto do pedido.', {
  product_id: pattern(productIdPattern, 'Identificador do produto, prefixo `prod_`.', 'prod_1'),
  name: text('Nome do produto.', 'Curso de violão'),
  quantity: integer(1, 'Quantidade.', 1),
  unit_price: cents('Preço unitário, em centavos.', 9900),
  sub_total: cents('`unit_price` vezes `quantity`, em centavos.', 9900),
  currency: pattern('^[A-Z]{3}$', 'Moeda do item; hoje sempre `BRL`.', 'BRL'),
  offer_id: nullable(offerId('Oferta pela qual o item foi vendido, prefixo `prod_offer_`.')),
  plan_id: nullable(
    pattern(planIdPattern, 'Plano da oferta, prefixo `prod_offer_plan_`.', 'prod_offer_plan_9'),
  ),
  order_bump_id: nullable(
    pattern(
      orderBumpIdPattern,
      'Order bump que acrescentou o item, prefixo `ob_`; `null` quando o item não veio de um.',
      'ob_3',
    ),
  ),
})

export const Offer = resource('Offer', 'Oferta do checkout do pedido.', {
  id: offerId('Identificador da oferta, prefixo `prod_offer_`.'),
  name: text('Nome da oferta.', 'Oferta principal'),
})

export const Promocode = resource('Promocode', 'Cupom aplicado.', {
  code: text('Código do cupom.', 'MARCO10'),
  description: nullable(text('Descrição do cupom.', '10% em março')),
  amount: cents(
    'Desconto do cupom em centavos, negativo; `payment.discount_amount` traz o desconto positivo.',
    -990,
  ),
})
