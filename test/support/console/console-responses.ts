import type { Page } from 'playwright-core'
import { sandboxMoves } from '../../../src/management/sandbox/sandbox-moves.ts'
import { orderStatuses } from '../../../src/orders/order-values.ts'

const endpoint = {
  id: 'we_1',
  account_id: 'acc_demo',
  test: false,
  url: 'https://erp.example/avisos/pedidos',
  events: ['*'],
  payload: 'full',
  status: 'enabled',
  description: 'ERP da loja',
  starts_at: '2026-03-01T12:00:00.000Z',
  failing_since: null,
  disabled_reason: null,
}

const endpoints = [
  endpoint,
  {
    ...endpoint,
    id: 'we_2',
    events: ['order.paid'],
    description: 'Notas fiscais',
    failing_since: '2026-03-02T12:00:00.000Z',
  },
  { ...endpoint, id: 'we_4', test: true },
  { ...endpoint, id: 'we_3', description: null, status: 'disabled', disabled_reason: 'gone' },
]

const delivery = {
  id: 'dlv_1',
  event_id: 'evt_1',
  type: 'order.paid',
  order_id: 'ord_1aB2cD3eF4gH5iJ6',
  sequence: 2,
  state: 'delivered',
  next_at: null,
  attempts: [{ at: '2026-03-01T12:00:00.000Z', status: 200, error: null, duration_ms: 80 }],
}
const failedAttempts = [
  { at: '2026-03-01T12:00:02.000Z', status: 500, error: null, duration_ms: 80 },
  { at: '2026-03-01T12:05:00.000Z', status: null, error: 'timeout', duration_ms: 15_000 },
]
const ofTest = { type: 'webhook.test', order_id: null, sequence: null }
const states = ['delivered', 'failed', 'pending', 'held', 'canceled', 'expired']
const deliveries = [
  // Events of one type and order in the same minutes, as of a card that is declined again.
  ...states.map((state, sequence) => {
    return { ...delivery, id: `dlv_${state}`, sequence, state, attempts: failedAttempts }
  }),
  { ...delivery, ...ofTest, id: 'dlv_test' },
  { ...delivery, ...ofTest, id: 'dlv_test_again', attempts: failedAttempts.slice(0, 1) },
]

const testOrder = {
  object: 'sandbox_order',
  account_id: 'acc_demo',
  scenario: 'subscription',
  version: 1,
  status: 'PAID',
  payment_status: 'PAID',
  erased: false,
  moves: sandboxMoves,
  created_at: '2026-03-01T12:00:00.000Z',
}
const gone = { erased: true, status: null, payment_status: null, moves: [] }
const testOrders = [
  ...orderStatuses.map((status, at) => ({ ...testOrder, status, id: `ord_test_1aB2cD3eF4${at}` })),
  { ...testOrder, ...gone, id: 'ord_test_1aB2cD3eF4gH5iJ6kL7mN8oP' },
]

function usage() {
  const day = new Date().toISOString().slice(0, 10)
  const counts = { requests: 120, by_status: { 200: 90, 404: 20, 429: 10 }, rate_limited: 10 }
  return { object: 'usage', data: [{ day, key_id: 'key_1', ...counts }] }
}

const list = (data: object[]) => ({ object: 'list', data, has_more: false, next_cursor: null })

/**
 * Responds to the calls for webhooks, deliveries, usage and test orders with one example of every
 * state.
 */
export async function respondWithExamples(page: Page): Promise<void> {
  await page.route('**/webhook-endpoints?*', (route) => route.fulfill({ json: list(endpoints) }))
  await page.route('**/deliveries?*', (route) => route.fulfill({ json: list(deliveries) }))
  await page.route('**/usage?*', (route) => route.fulfill({ json: usage() }))
  await page.route('**/sandbox-orders?*', (route) => route.fulfill({ json: list(testOrders) }))
}

/** Responds to the same calls as for a new account. */
export async function respondWithNothing(page: Page): Promise<void> {
  await page.route('**/webhook-endpoints?*', (route) => route.fulfill({ json: list([]) }))
  await page.route('**/usage?*', (route) => route.fulfill({ json: { object: 'usage', data: [] } }))
}
