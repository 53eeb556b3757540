// A sample program of an integrator for every supported runtime.
import { ApiError, createMemoryStore, createOrdersClient } from 'public-orders-client'

const [baseUrl, apiKey] = process.argv.slice(2)
const { orders } = createOrdersClient({ baseUrl, apiKey })

let listed = 0
for await (const order of orders.list({ status: ['PAID'], limit: 3 })) {
  if (order.status === 'PAID') listed++
}
const store = createMemoryStore()
const { received, watermark } = await orders.sync({ store, limit: 4 })
const { id } = await orders.get([...store.orders.keys()][0])
const error = await orders.get('ord_nada').catch((error) => error)
console.log(
  JSON.stringify({
    listed,
    received,
    watermark,
    id,
    isApiError: error instanceof ApiError,
    code: error.code,
  }),
)
