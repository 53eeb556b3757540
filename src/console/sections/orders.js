import { badge, button, empty, facts, fillPlace, sectionHead } from '../ui/components.js'
import { h } from '../ui/dom.js'
import { formatMoment, formatMoney } from '../ui/format.js'
import { METHOD_NAMES, ORDER_STATUSES } from '../ui/names.js'

const LEAD = 'Os 20 pedidos mais novos da sua conta. É isto que um sistema com uma chave sua lê.'
const NO_ORDERS =
  'O primeiro pedido da sua loja aparece aqui assim que chegar. Enquanto isso, teste o seu sistema com pedidos fictícios.'

/** The section of the latest orders. */
export function ordersSection(api, { show }) {
  const place = h('div')

  async function load() {
    const { data } = await api.get('/orders')
    if (data.length > 0) return h('ul', { class: 'cards' }, data.map(card))
    const next = button('Ir para Testes', () => show('testes'), 'primary')
    return empty('orders', 'Nenhum pedido ainda', NO_ORDERS, next)
  }

  fillPlace(place, load)
  return [sectionHead('Pedidos recentes', LEAD), place]
}

function card(order) {
  const [first, ...others] = order.items
  const more = others.length > 0 ? ` e mais ${others.length}` : ''
  const { method, installments } = order.payment
  const parts = installments > 1 ? `, ${installments}x` : ''
  return h('li', { class: 'card' }, [
    h('div', { class: 'card-top' }, [
      h('h2', {}, order.customer.name),
      badge(ORDER_STATUSES[order.status] ?? [order.status, 'off']),
      h('span', { class: 'amount' }, formatMoney(order.amount_total, order.currency)),
    ]),
    facts([
      ['Produto', first ? `${first.name}${more}` : null],
      ['Pagamento', `${METHOD_NAMES[method] ?? method}${parts}`],
      ['Data', formatMoment(order.created_at)],
      ['Pedido', h('code', {}, order.id)],
    ]),
  ])
}
