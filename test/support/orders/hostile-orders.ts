import { createRandom } from '../../../src/demo/random.ts'
import { projectOrder } from '../../../src/indexing/projection/order-views.ts'
import { type OrderDocument, renderDocument } from '../../../src/indexing/writer/order-document.ts'
import { MINUTE_MS } from '../../../src/lib/durations.ts'
import type { Order } from '../../../src/orders/order.ts'
import { sourceOrder } from './source-order.ts'

/**
 * Texts that resemble the JSON around an order in a response, and those that renderers escape
 * differently.
 */
const HOSTILE = [
  '"',
  '\\',
  '\\"',
  '{',
  '}}',
  ']}}',
  '"},"sort":[1,"ord_1"]}',
  ',"sort":[1772366400000,"ord_1"]},{"_index":"orders-v1","_id":"a:ord_2","_source":{',
  '"_source":{"frame":"00000000-0000-00000000","account_id":"acc_1","order":{',
  '\u2028\u2029',
  '\u0000',
  '\u0001\b\f\n\r\t\u007f',
  '🛒👩‍👩‍👧',
  '\ud800',
  '\udc00\ud800',
  '\ufeff',
  'ação São José',
  '</script>',
  '1e400',
  'plain',
]
const KEYS = [
  '_source',
  'sort',
  'order',
  'frame',
  'hits',
  '__proto__',
  'constructor',
  '0',
  '10',
  '',
]
const MEGABYTE = 2 ** 20

const SEED = 1

const views = projectOrder(sourceOrder()).views
const CREATED_FROM = Date.parse('2025-01-01T00:00:00Z')
const STAMP = Date.parse('2026-05-01T00:00:00Z')

/** The first documents of {@link hostileDocument}. */
export function* hostileDocuments(accountId: string, count: number): Generator<OrderDocument> {
  for (let index = 0; index < count; index += 1) yield hostileDocument(accountId, index)
}

/** A document with texts of every kind where a buyer may write; at random one has a megabyte. */
export function hostileDocument(accountId: string, index: number): OrderDocument {
  const [view] = views
  if (view === undefined) throw new Error('an order has an owner')
  const random = createRandom(SEED, SEED, index)
  const text = () =>
    Array.from({ length: random.between(0, 4) }, () => random.pick(HOSTILE)).join('')
  const trackingKey = () => (random.chance(0.5) ? random.pick(KEYS) : takenAsKey(text()))
  // Built from entries, because a literal would make `__proto__` the prototype.
  const tracking = Object.fromEntries(
    Array.from({ length: random.between(0, 5) }, () => [trackingKey(), text()]),
  )
  if (index % 10_000 === 5_000) tracking['huge'] = random.pick(HOSTILE).padEnd(MEGABYTE, '"}')
  const order: Order = {
    ...view.order,
    id: hostileId(index),
    customer: { ...view.order.customer, name: text(), email: text() },
    items: view.order.items.map((item) => ({ ...item, name: text() })),
    tracking,
  }
  // Many have the same instant, so that the id decides.
  const createdKey = CREATED_FROM + random.between(0, 20_000) * MINUTE_MS
  const updatedAt = random.chance(0.1) ? null : createdKey + random.between(0, 1_000) * MINUTE_MS
  const write = { accountId, orderId: order.id, order, createdKey, updatedAt }
  return renderDocument(write, STAMP + index)
}

const hostileId = (index: number) => `ord_${index}`

/**
 * OpenSearch rejects a lone surrogate in a name. `JSON.parse` is no oracle for keys with escapes:
 * after a key with a backslash, V8 confuses it with others that have an escape in its place
 * (nodejs/node#63785).
 */
const takenAsKey = (text: string) => text.toWellFormed().replaceAll('\\', '')
