import { deliveriesSection } from './sections/deliveries.js'
import { keysSection } from './sections/keys.js'
import { ordersSection } from './sections/orders.js'
import { sandboxSection } from './sections/sandbox.js'
import { usageSection } from './sections/usage.js'
import { webhooksSection } from './sections/webhooks.js'

/**
 * The sections of the console, in the order of the menu. `render` returns the elements of one. In
 * its context, `show(id, argument)` opens another section, which receives this `argument` in its
 * own.
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
  { id: 'uso', name: 'Uso', icon: 'usage', capability: 'usage', render: usageSection },
  { id: 'pedidos', name: 'Pedidos', icon: 'orders', capability: 'orders', render: ordersSection },
  { id: 'testes', name: 'Testes', icon: 'tests', capability: 'orders', render: sandboxSection },
]
