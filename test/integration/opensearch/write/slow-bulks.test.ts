import { afterEach, beforeEach, expect, it } from 'vitest'
import { createWriter } from '../../../../src/indexing/writer/writer.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import {
  type Behaviour,
  loseResponseOf,
  proxyTo,
} from '../../../support/stores/scripted/scripted-server.ts'
import { useProxiedIndex } from '../../../support/stores/use-proxied-index.ts'

/** OpenSearch responds to a bulk of this size in time. */
const FAST_BYTES = 100_000
const ORDER_BULK = /orders-w-.*_bulk/

let isSlow: boolean
const test = useProxiedIndex(slowTo)
beforeEach(() => {
  isSlow = true
})
afterEach(() => {
  isSlow = false // After a failure the writer would never end.
})

/** OpenSearch writes every bulk. The response to a large one is lost, as after a deadline. */
function slowTo(url: string): Behaviour {
  return async (response, request) => {
    const { path, body } = request
    const isLost = isSlow && ORDER_BULK.test(path) && body.length > FAST_BYTES
    await (isLost ? loseResponseOf : proxyTo)(url)(response, request)
  }
}

it('orders are written in smaller bulks after one without a response', {
  timeout: 60_000,
}, async () => {
  const orders = Array.from({ length: 200 }, (_, n) => changeOf(sourceOrder({ id: `ord_${n}` })))
  const results = await createWriter(test.index, Date.now).write(orders, 'live')
  expect(new Set(results)).toEqual(new Set(['written']))
  const sizes = test.server.received.flatMap(({ path, body }) =>
    ORDER_BULK.test(path) ? body.length : [],
  )
  expect(sizes[0]).toBeGreaterThan(FAST_BYTES)
  expect(sizes.at(-1)).toBeLessThanOrEqual(FAST_BYTES)
})
