import { deliveriesSection } from './deliveries.js'
import { keysSection } from './keys.js'
import { ordersSection } from './orders.js'
import { sandboxSection } from './sandbox.js'
import { usageSection } from './usage.js'
import { webhooksSection } from './webhooks.js'

/**
 * The parts of the console, in the order of the menu. `render` returns the elements of a part;
 * `show(id, argument)` opens another one.
 */
export const SECTIONS = [
  { id: 'chaves', name: 'Chaves', icon: 'keys', capability: 'keys', render: keysSection },
  {
    id: 'webhooks',
    name: 'Webhooks',
    icon: 'webhooks',
    capability: 'webhooks',
    render: webhooksSection,
  },
  {
    id: 'entregas',
    name: 'Entregas',
    icon: 'deliveries',
    capability: 'webhooks',
    render: deliveriesSection,
  },
  {
    id: 'uso',
    name: 'Uso',
    icon: 'usage',
    capability: 'usage',
    render: (api, show, _argument, session) =>
      usageSection(api, show, () => keyNames(api, session)),
  },
  { id: 'pedidos', name: 'Pedidos', icon: 'orders', capability: 'orders', render: ordersSection },
  {
    id: 'testes',
    name: 'Testes',
    icon: 'tests',
    capability: 'orders',
    render: (api, show, _argument, session) => sandboxSection(api, show, session),
  },
]

/** The names of the keys by id; none without the capability to list them. */
async function keyNames(api, { capabilities }) {
  if (!capabilities.includes('keys')) return new Map()
  const keys = await api.list('/keys')
  const nameOf = ({ name, last_four: end, test }) =>
    `${name ?? `Chave …${end}`}${test ? ' (teste)' : ''}`
  return new Map(keys.map((key) => [key.id, nameOf(key)]))
}
