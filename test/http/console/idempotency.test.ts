import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  createTestConsole,
  type LinkOptions,
  type TestConsole,
} from '../../support/console/test-console.ts'

let one: TestConsole
beforeAll(async () => {
  one = await createTestConsole()
})
afterAll(() => one.close())

const headers = { 'idempotency-key': '6f1b2a3c-0d4e-4f5a-8b6c-7d8e9f0a1b2c' }

/** Posts to an account with the same Idempotency-Key each time, in a session of this link. */
async function posting(accountId: string, link: LinkOptions = { accountId }) {
  const session = await one.signIn(link)
  return (path: string, body: object = {}) =>
    one.call(`/v1/accounts/${accountId}${path}`, { method: 'POST', session, body, headers })
}

it('a repeated creation of a key changes nothing, and returns no key', async () => {
  const post = await posting('acc_keys')
  const { status, json: first } = await post('/keys', { name: 'ERP' })
  const second = await post('/keys', { name: 'ERP' })
  expect([status, second.status, second.json.id]).toEqual([201, 201, first.id])
  expect(second.headers).toHaveProperty('idempotent-replayed', 'true')
  expect(second.json).not.toHaveProperty('key')
  expect(await one.services.keys.list('acc_keys')).toHaveLength(1)
})

it('a repeated roll of a secret ends no further secret', async () => {
  const post = await posting('acc_hooks')
  const { json: endpoint } = await post('/webhook-endpoints', { url: 'https://erp.example/hook' })
  const roll = () => post(`/webhook-endpoints/${endpoint.id}/roll-secret`)
  const [first, second] = [await roll(), await roll()]
  expect([first.status, second.status, second.json.secret]).toEqual([200, 200, undefined])
  const stored = await one.services.webhooks.endpoints.byId(endpoint.id)
  expect(stored).toMatchObject({ secret: { generation: 2 }, previousSecret: { generation: 1 } })
})

it('a key is of one session: one without the capability, or of another account, gets 404', async () => {
  await (await posting('acc_mine'))('/keys')
  const withoutKeys = await posting('acc_mine', { accountId: 'acc_mine', capabilities: ['usage'] })
  expect((await withoutKeys('/keys')).status).toBe(404)
  const ofOther = await posting('acc_mine', { accountId: 'acc_other' })
  expect((await ofOther('/keys')).status).toBe(404)
  expect((await (await posting('acc_mine'))('/keys')).json).toHaveProperty('key')
})
