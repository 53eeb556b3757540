// A sample TypeScript program of an integrator; it is compiled and never run.
import {
  type Card,
  createOrdersClient,
  type Order,
  type SyncState,
  type SyncStore,
  verifyWebhook,
  type WebhookEvent,
} from 'public-orders-client'

const { orders } = createOrdersClient({ baseUrl: 'https://api.example.com', apiKey: 'key' })

export async function total(): Promise<number> {
  let cents = 0
  for await (const { amount_total, paid_at } of orders.list({
    status: 'PAID',
    sort: 'updated_at_asc',
  })) {
    if (paid_at !== null) cents += amount_total
  }
  return cents
}

export const card = (order: Order): Card | null => order.payment.card
export const brandOf = (newer: string): Card => ({ brand: newer, last4: '0001' })

export class Store implements SyncStore {
  state: SyncState | null = null
  async read(): Promise<SyncState | null> {
    return this.state
  }
  async save(_orders: readonly Order[], state: SyncState): Promise<void> {
    this.state = state
  }
}

export async function receive(request: Request, secrets: string[]): Promise<string> {
  const event = await verifyWebhook(await request.text(), request.headers, secrets)
  if (event.order_id === null || event.type === 'order.removed') return event.id
  const sequence: number = event.sequence
  const [before, after] = event.change.status ?? []
  return `${event.order_id} ${sequence} ${before} ${after} ${event.data?.amount_total}`
}
export const receiveInNode = (
  body: Uint8Array,
  headers: Record<string, string | string[] | undefined>,
) => verifyWebhook(body, headers, 'whsec_', { toleranceSeconds: 60 })

export const removeIn = (store: SyncStore, event: WebhookEvent) =>
  orders.applyRemoval(event, { store })

// @ts-expect-error: a listing is no promise
export const awaited = async () => await orders.list()
// @ts-expect-error: no such status
orders.list({ status: 'PAGO' })
// @ts-expect-error: no such parameter
orders.list({ statuss: 'PAID' })
// @ts-expect-error: no such field
export const misspelt = (order: Order): number => order.amount_totall
