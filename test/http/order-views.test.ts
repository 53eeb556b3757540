import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApp, type TestApp } from '../support/http/test-app.ts'
import { sourceOrder } from '../support/orders/source-order.ts'

const OWNER = 'acc_owner'
const COPRODUCER = 'acc_coproducer'
const STRANGER = 'acc_stranger'

const tracking = { src: 'bio', fbclid: 'IwAR0abc' }
const navigator = {
  user_agent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X)',
  referer: 'https://www.exemplo.com.br/',
}

let app: TestApp
beforeAll(async () => {
  app = await createTestApp()
  const accounts = { owner_account_id: OWNER, coproducer_account_ids: [COPRODUCER] }
  await app.load([sourceOrder({ ...accounts, tracking, navigator })])
})
afterAll(() => app.close())

/** The order as this account sees it by its id and in its list. */
async function viewsOf(accountId: string) {
  const { key } = await app.issue({ accountId })
  const { json: one } = await app.call('/v1/orders/ord_1', { key })
  return { one, listed: (await app.list('', key)).data }
}

describe('the views of an order', () => {
  it('the owner sees tracking and navigator', async () => {
    const { one, listed } = await viewsOf(OWNER)
    expect(one).toMatchObject({ role: 'OWNER', tracking, navigator })
    expect(listed).toEqual([one])
  })

  it('a co-producer sees all but tracking and navigator', async () => {
    const { one: owned } = await viewsOf(OWNER)
    const { one, listed } = await viewsOf(COPRODUCER)
    expect(one).toEqual({ ...owned, role: 'COPRODUCER', tracking: null, navigator: null })
    expect(listed).toEqual([one])
  })

  it('any other account sees nothing', async () => {
    const { one, listed } = await viewsOf(STRANGER)
    expect(one.error).toMatchObject({ code: 'resource_missing' })
    expect(listed).toEqual([])
  })
})
