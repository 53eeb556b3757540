import { expect, it } from 'vitest'
import { delivery } from '../../../support/webhooks/delivery.ts'
import { useOpenSearchWebhooks } from '../../../support/webhooks/stores/use-opensearch-webhooks.ts'

const test = useOpenSearchWebhooks()
/** More than a page of the search. */
const ENDPOINTS = 10_001

it('finds when the first delivery of each of more than 10,000 endpoints is due', async () => {
  const due = new Map(Array.from({ length: ENDPOINTS }, (_, n) => [`we_${n}`, 10_000 + n]))
  const created = [...due].map(([endpointId, nextAt]) => delivery({ endpointId, nextAt }))
  await test.stores.deliveries.create(created)
  expect(await test.stores.deliveries.nextDueByEndpoint()).toEqual(due)
})
