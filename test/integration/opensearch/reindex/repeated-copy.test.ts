import { expect, it } from 'vitest'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { useServices } from '../../../support/stores/use-services.ts'
import { useInterceptedReindexing } from './intercepted-reindexing.ts'

const test = useServices()
const intercepted = useInterceptedReindexing(test)

it('a repeated copy is written again, because its first attempt may be on the primary only', async () => {
  await test.write([1, 2, 3].map((n) => sourceOrder({ id: `ord_${n}` })))
  let copies = 0
  intercepted.intercept(async ({ path, body }) => {
    if (!path.includes('orders-copy-v2/_bulk') || copies++ > 0) return
    const headers = { 'content-type': 'application/x-ndjson' }
    const url = `${`${test.env['OPENSEARCH_URL']}`.split(',')[0]}${path}`
    await fetch(url, { method: 'POST', headers, body })
  })
  expect(await intercepted.reindexing?.build()).toMatchObject({ copied: 3, documents: 3 })
  expect(copies).toBe(1)
})
