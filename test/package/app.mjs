// A sample program of an integrator for every supported runtime.
import {
  ApiError,
  createMemoryStore,
  createOrdersClient,
  verifyWebhook,
  WebhookVerificationError,
} from 'public-orders-client'

const [baseUrl, apiKey, webhook] = process.argv.slice(2)
const { orders } = createOrdersClient({ baseUrl, apiKey })

let listed = 0
for await (const order of orders.list({ status: ['PAID'], limit: 3 })) {
  if (order.status === 'PAID') listed++
}
const store = createMemoryStore()
const { received, watermark } = await orders.sync({ store, limit: 4 })
const { id } = await orders.get([...store.orders.keys()][0])
const error = await orders.get('ord_nada').catch((error) => error)
const { body, headers, secret } = JSON.parse(webhook)
const event = await verifyWebhook(body, new Headers(headers), secret)
const rejection = await verifyWebhook(`${body} `, headers, secret).catch((error) => error)
console.log(
  JSON.stringify({
    listed,
    received,
    watermark,
    id,
    isApiError: error instanceof ApiError,
    code: error.code,
    event: event.type,
    isVerificationError: rejection instanceof WebhookVerificationError,
    reason: rejection.reason,
  }),
)
