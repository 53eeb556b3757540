// Prints the error of a try whose response stalls while garbage is collected. Needs --expose-gc.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { createOrdersClient } from 'public-orders-client'

const server = createServer((_request, response) => response.writeHead(200).write('{'))
await once(server.listen(0, '127.0.0.1'), 'listening')
const { orders } = createOrdersClient({
  baseUrl: `http://127.0.0.1:${server.address().port}`,
  apiKey: 'key',
  timeoutMs: 500,
  retryForMs: 0,
})
setInterval(() => globalThis.gc(), 50)
// The signal is the caller's, and never aborts.
const call = orders.get('ord_1', { signal: new AbortController().signal }).catch((error) => error)
const error = await Promise.race([call, delay(20_000)])
console.log(error?.isTimeout ?? 'no error')
process.exit()
