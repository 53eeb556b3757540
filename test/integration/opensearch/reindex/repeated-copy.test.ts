import { expect, it } from 'vitest'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { opensearch } from '../../../support/stores/backend.ts'
import { useServices } from '../../../support/stores/use-services.ts'
import { useInterceptedReindexing } from './intercepted-reindexing.ts'

const test = useServices()
const intercepted = useInterceptedReindexing(test)

/** Sends the first bulk to an alias twice: its first attempt may be on the primary only. */
function repeatFirst(alias: string): { readonly bulks: number } {
  const sent = { bulks: 0 }
  intercepted.intercept(async ({ path, body }) => {
    if (!path.includes(`${alias}/_bulk`) || sent.bulks++ > 0) return
    const headers = { 'content-type': 'application/x-ndjson' }
    const url = `${`${test.env['OPENSEARCH_URL']}`.split(',')[0]}${path}`
    await fetch(url, { method: 'POST', headers, body })
  })
  return sent
}

const IDS = ['ord_1', 'ord_2', 'ord_3']
const writeOrders = () => test.write(IDS.map((id) => sourceOrder({ id })))

it('a repeated copy is written again, because its first attempt may be on the primary only', async () => {
  await writeOrders()
  const sent = repeatFirst('orders-copy-v2')
  expect(await intercepted.reindexing?.build()).toMatchObject({ copied: 3, documents: 3 })
  expect(sent.bulks).toBe(1)
})

it('a copy of a version record that conflicts is written again by the next comparison', async () => {
  await writeOrders()
  const sent = repeatFirst('order-heads-copy-v2')
  await intercepted.reindexing?.build({ shards: 2 })
  expect(sent.bulks).toBe(2)
  const address = `${test.prefix}order-heads-v2/_mget`
  const { docs } = await opensearch<{ docs: object[] }>('POST', address, { ids: IDS })
  expect(docs).toMatchObject(IDS.map((_id) => ({ _id, _version: 2 })))
})
