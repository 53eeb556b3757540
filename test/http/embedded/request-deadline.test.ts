import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { createTestApp, ROOMY, type TestApp } from '../../support/http/test-app.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'

const DEADLINE_MS = 2_000
/** Each call fits the request deadline, and several calls together exceed it. */
const SLOW_MS = 1_500
/** The page ends among orders without `updated_at`, so it needs three calls. */
const PAGE = '/v1/orders?sort=updated_at_asc&limit=2'

let app: TestApp
afterEach(() => app.close())

async function open(deadlineMs: number) {
  app = await createTestApp({
    ...ROOMY,
    REQUEST_DEADLINE_MS: `${deadlineMs}`,
  })
  await app.load(
    Array.from({ length: 4 }, (_, n) => sourceOrder({ id: `ord_${n}`, changed_at: null })),
  )
  return (await app.issue()).key
}

function slowDownSearches() {
  const { orders } = app.services
  const { findPage } = orders
  orders.findPage = async (...args) => {
    await sleep(SLOW_MS)
    return findPage(...args)
  }
}

describe('the searches of a page', () => {
  it('the searches of a page share the request deadline, and exceeding it returns 503 with Retry-After and the limits', async () => {
    const key = await open(DEADLINE_MS)
    slowDownSearches()
    const { status, json, headers } = await app.call(PAGE, { key })
    expect([status, json.error.code]).toEqual([503, 'service_unavailable'])
    expect(headers).toMatchObject({ 'retry-after': '1', 'ratelimit-limit': '100000' })
  })

  it('the searches of a page return a page within a longer deadline', async () => {
    const key = await open(60_000)
    slowDownSearches()
    const { status, json } = await app.call(PAGE, { key })
    expect([status, json.data.length]).toEqual([200, 2])
  })
})

describe.each(['/v1/orders', '/v1/orders/ord_1'])('the request deadline of %s', (path) => {
  it('starts at the arrival of the request and includes the key lookup', async () => {
    const key = await open(DEADLINE_MS)
    const { keys } = app.services
    const { find } = keys
    keys.find = async (...args) => {
      await sleep(DEADLINE_MS + 100)
      return find(...args)
    }
    expect(await app.error(path, { key })).toMatchObject({
      status: 503,
      code: 'service_unavailable',
    })
  })
})
