import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createOrdersClient } from '../../../src/client/client.ts'
import { type FaultServer, startFaultServer } from '../../support/http/fault-server.ts'
import { createTestApp, type TestApp } from '../../support/http/test-app.ts'
import { collect } from '../../support/orders/collect.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'

/** A bucket that a client without a rate limiter would empty at once. */
const SMALL = { RATE_LIMIT_CAPACITY: '4', RATE_LIMIT_REFILL_PER_SECOND: '5' }
const ORDERS = 12

let app: TestApp
let faultServer: FaultServer
let baseUrl: string

beforeAll(async () => {
  app = await createTestApp(SMALL)
  const ids = Array.from({ length: ORDERS }, (_, at) => `ord_${at}`)
  await app.load(ids.map((id) => sourceOrder({ id, owner_account_id: 'acc_lister' })))
  baseUrl = await app.app.listen({ port: 0, host: '127.0.0.1' })
  faultServer = await startFaultServer(baseUrl)
})
afterAll(async () => {
  await faultServer.close()
  await app.close()
})
afterEach(() => faultServer.forget())

/** The only client of an account with a full bucket. */
async function connect(accountId: string) {
  const { key } = await app.issue({ accountId })
  return { key, ...createOrdersClient({ baseUrl: faultServer.baseUrl, apiKey: key }).orders }
}

const statuses = () => faultServer.requests.map(({ outcome }) => outcome)
const times = (count: number, call: () => Promise<unknown>) =>
  Promise.all(Array.from({ length: count }, () => call().catch(() => {})))

describe('the client and the rate limit of its account', () => {
  it('the client stays within the rate limit of its account during a listing', async () => {
    const { list } = await connect('acc_lister')
    expect(await collect(list({ limit: 1 }))).toHaveLength(ORDERS)
    expect(statuses()).toEqual(Array.from({ length: ORDERS }, () => 200))
  })

  it('the client stays within the rate limit of its account with concurrent calls, before a response reports the bucket', async () => {
    const { get } = await connect('acc_beside')
    await times(12, () => get('ord_nada'))
    expect(statuses()).toEqual(Array.from({ length: 12 }, () => 404))
  })

  it('the client waits after another client has emptied the bucket', async () => {
    let attempts = 0
    async function statusesAfterSpent() {
      faultServer.forget()
      const { key, get } = await connect(`acc_spent_${attempts++}`)
      const headers = { authorization: `Bearer ${key}` }
      await times(8, () => fetch(`${baseUrl}/v1/orders`, { headers }))
      await times(1, () => get('ord_nada'))
      return statuses()
    }
    // On a busy machine, the bucket refills before the call.
    await expect.poll(statusesAfterSpent).toEqual([429, 404])
  })
})
