import { beforeEach, expect, it } from 'vitest'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { opensearch } from '../../../support/stores/backend.ts'
import { useServices } from '../../../support/stores/use-services.ts'
import { useInterceptedReindexing } from './intercepted-reindexing.ts'

const test = useServices()
const intercepted = useInterceptedReindexing(test)

const WRITTEN_SINCE = 4_102_444_800_000
const IDS = ['ord_1', 'ord_2', 'ord_3']
beforeEach(() => test.write(IDS.map((id) => sourceOrder({ id }))))

// The first attempt of a copy without a response may be on the primary only.
it('a copy of orders without a response is written again, and only then replaces itself', async () => {
  const types: unknown[] = []
  intercepted.intercept(async ({ path, body }) => {
    if (path.includes('orders-copy-v2/_bulk')) types.push(/"version_type":"(\w+)"/.exec(body)?.[1])
  })
  intercepted.loseResponse('orders-copy-v2')
  expect(await intercepted.reindexing?.build()).toMatchObject({ copied: 3, documents: 3 })
  // A first attempt that replaced its own version would copy orders that a search lacks for ever.
  expect(types).toEqual(['external', 'external_gte'])
})

it('a copy of version records without a response is written again as a writer left it since', async () => {
  const copied = `${test.prefix}order-heads-v2`
  let hasCopied = false
  let hasChanged = false
  intercepted.intercept(async ({ path }) => {
    if (hasCopied && !hasChanged && path.includes('_mget')) {
      hasChanged = true
      await opensearch('POST', `${copied}/_update/ord_1`, { doc: { written: WRITTEN_SINCE } })
    }
    hasCopied ||= path.includes('order-heads-copy-v2/_bulk')
  })
  intercepted.loseResponse('order-heads-copy-v2')
  await intercepted.reindexing?.build({ shards: 2 })
  const { docs } = await opensearch<{ docs: object[] }>('POST', `${copied}/_mget`, { ids: IDS })
  expect(docs).toMatchObject([
    { _id: 'ord_1', _version: 3, _source: { written: WRITTEN_SINCE } },
    { _id: 'ord_2', _version: 2 },
    { _id: 'ord_3', _version: 2 },
  ])
})
