import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { SourceOrder } from '../../../src/indexing/projection/source-order.ts'
import { planDeliveries } from '../../../src/webhooks/deliveries/plan-deliveries.ts'
import type { Endpoint } from '../../../src/webhooks/endpoints/endpoint.ts'
import { byEffort } from '../../support/effort.ts'
import { sourceOrders } from '../../support/orders/arbitraries.ts'
import { openTestServices } from '../../support/stores/services.ts'
import { endpoint } from '../../support/webhooks/endpoint.ts'
import { storedOrdersText, storedWebhooksText } from '../../support/webhooks/stored-text.ts'

const RUNS = byEffort(5, 50)
const MAX_ORDERS = 20
/** Precedes each text of a buyer. */
const MARK = 'private-'

const ENDPOINTS: Endpoint[] = ['acc_1', 'acc_2', 'acc_3', 'acc_4'].map((accountId) =>
  endpoint({ id: `we_${accountId}`, accountId }),
)

const test = await openTestServices()
beforeAll(async () => {
  for (const one of ENDPOINTS) await test.services.webhooks.endpoints.insert(one)
})
afterAll(() => test.close())

/** A copy in which every text begins with {@link MARK}. */
function marked<T>(value: T): T {
  const mark = (part: unknown): unknown => {
    if (typeof part === 'string') return MARK + part
    if (part === null || typeof part !== 'object') return part
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, mark(inner)]))
  }
  return mark(value) as T
}

const markedOrders = sourceOrders.map((order): SourceOrder => {
  const { customer, shipping_address, tracking, navigator } = order
  const keys = Object.entries(tracking ?? {}).map(([key, text]) => [MARK + key, marked(text)])
  return {
    ...order,
    customer: marked(customer),
    ...(shipping_address && { shipping_address: marked(shipping_address) }),
    ...(tracking && { tracking: Object.fromEntries(keys) }),
    ...(navigator && { navigator: marked(navigator) }),
  }
})

/** Turns all event records into deliveries, as the dispatcher does. */
async function fanOut(): Promise<number> {
  const { events } = test.services.webhooks
  let created = 0
  for (let page = await events.next(256); page !== null; page = await events.next(256)) {
    const { deliveries } = planDeliveries(page.records, {
      endpointsOf: (accountId) => ENDPOINTS.filter((one) => one.accountId === accountId),
      nowMs: Date.now(),
      firstDelayMs: 0,
    })
    created += (await page.fanOut(deliveries)).length
  }
  return created
}

let orderCount = 0

it('event records, version records and deliveries contain no data of a buyer, for any order', async () => {
  const orders = fc.array(markedOrders, { minLength: 1, maxLength: MAX_ORDERS })
  const property = fc.asyncProperty(orders, async (generated) => {
    const first = generated.map((order) => {
      orderCount += 1
      return { ...order, id: `ord_${orderCount}`, version: 1, status: 'AWAITING_PAYMENT' as const }
    })
    const second = first.map((order) => ({ ...order, version: 2, status: 'PAID' as const }))
    for (const orders of [first, second]) await test.load(orders, { mode: 'live' })
    // An order whose payments all failed is not visible, and announces nothing.
    const visible = first.filter(({ payments }) => payments.some((one) => one.status !== 'FAILED'))
    expect(await fanOut()).toBeGreaterThanOrEqual(visible.length)
    expect(await storedWebhooksText(test)).not.toContain(MARK)
  })
  await fc.assert(property, { numRuns: RUNS })
  const [webhooks, all] = [await storedWebhooksText(test), await storedOrdersText(test)]
  expect(webhooks).toContain('order.paid')
  expect(all).toContain(MARK)
})
