import { expect, it } from 'vitest'
import { DEMO_ACCOUNT } from '../../../src/demo/accounts.ts'
import { createRandom } from '../../../src/demo/random.ts'
import { createOracle } from '../../harness/traffic/oracle.ts'
import type { TrafficRequest } from '../../harness/traffic/request.ts'
import { createTraffic } from '../../harness/traffic/traffic.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'

const truth = createOracle([
  sourceOrder({ owner_account_id: DEMO_ACCOUNT, coproducer_account_ids: ['acc_polite'] }),
])
const keys = {
  accounts: new Map(truth.accountIds.map((id) => [id, id])),
  ended: ['ended'],
  scopeless: 'scopeless',
}

/** The requests of the account `acc_polite`, at this interval in milliseconds. */
function politeRequests(
  everyMs: number,
  onRequest: (request: TrafficRequest) => void = () => {},
): TrafficRequest[] {
  let now = 0
  const traffic = createTraffic(truth, keys, createRandom(1, 0, 0), () => now)
  const requests = Array.from({ length: 1_000 }, () => {
    now += everyMs
    const request = traffic.next()
    onRequest(request)
    return request
  })
  return requests.filter(({ headers }) => headers['authorization'] === 'Bearer acc_polite')
}

it('a polite account sends no faster than its bucket refills and never expects a 429', () => {
  const requests = politeRequests(1, (request) => request.onSettled?.())
  expect(requests.length).toBeGreaterThan(5)
  expect(requests.length).toBeLessThanOrEqual(10)
  expect(requests.filter(({ expectedStatuses }) => expectedStatuses.includes(429))).toEqual([])
})

it('a polite account without responses uses less than half of its bucket', () => {
  expect(politeRequests(1_000)).toHaveLength(8)
})
