import { afterEach, beforeEach, expect, it } from 'vitest'
import { parseConfig } from '../../../../src/config/config.ts'
import type { OrderIndex } from '../../../../src/indexing/writer/order-index.ts'
import { createWriter } from '../../../../src/indexing/writer/writer.ts'
import { openServices, type Services } from '../../../../src/services.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { type Backend, createBackend } from '../../../support/stores/backend.ts'
import {
  type Behaviour,
  proxyTo,
  type ScriptedServer,
  startServer,
} from '../../../support/stores/scripted/scripted-server.ts'

/** OpenSearch responds to a bulk of this size in time. */
const FAST_BYTES = 100_000
const ORDER_BULK = /orders-w-.*_bulk/

let backend: Backend
let node: ScriptedServer
let services: Services
let index: OrderIndex
let isSlow: boolean
beforeEach(async () => {
  isSlow = true
  backend = createBackend()
  const [url = ''] = process.env['OPENSEARCH_URL']?.split(',') ?? []
  node = await startServer([slowTo(url)])
  services = await openServices(parseConfig({ ...backend.env, OPENSEARCH_URL: node.url }))
  index = await services.openIndex()
})
afterEach(async () => {
  isSlow = false // After a failure the writer would never end.
  await index.close()
  await services.close()
  await node.close()
  await backend.remove()
})

/** OpenSearch writes every bulk. The response to a large one is lost, as after a deadline. */
function slowTo(url: string): Behaviour {
  return async (response, request) => {
    const { path, body, method } = request
    if (!isSlow || !ORDER_BULK.test(path) || body.length <= FAST_BYTES) {
      await proxyTo(url)(response, request)
      return
    }
    await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/x-ndjson' },
      body,
    })
    response.destroy()
  }
}

it('orders are written in smaller bulks after one without a response', {
  timeout: 60_000,
}, async () => {
  const orders = Array.from({ length: 200 }, (_, n) => changeOf(sourceOrder({ id: `ord_${n}` })))
  const results = await createWriter(index, Date.now).write(orders, 'live')
  expect(new Set(results)).toEqual(new Set(['written']))
  const sizes = node.received.flatMap(({ path, body }) =>
    ORDER_BULK.test(path) ? body.length : [],
  )
  expect(sizes[0]).toBeGreaterThan(FAST_BYTES)
  expect(sizes.at(-1)).toBeLessThanOrEqual(FAST_BYTES)
})
