import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestConsole, type TestConsole } from '../../support/console/test-console.ts'

let one: TestConsole
beforeAll(async () => {
  one = await createTestConsole()
})
afterAll(() => one.close())

it('every change of a session is in the audit log, with its subject and without a secret', async () => {
  const session = await one.signIn({ subject: 'ana@loja' })
  function change(path: string, body: object = {}) {
    one.clock.nowMs += 1 // Entries are listed by instant.
    return one.call(path, { method: 'POST', session, body })
  }
  const keys = '/v1/accounts/acc_1/keys'
  const created = (await change(keys)).json
  const rolled = (await change(`${keys}/${created.id}/roll`)).json
  await change(`${keys}/${rolled.id}/revoke`)
  const testOrders = '/v1/accounts/acc_1/sandbox-orders'
  const order = (await change(testOrders, { scenario: 'pix_awaiting' })).json
  await change(`${testOrders}/${order.id}/pay`)
  one.clock.nowMs += 1
  await one.call('/v1/session', { method: 'DELETE', session })

  const { json } = await one.platform('GET', '/v1/audit?account_id=acc_1')
  const entries = json.data.toReversed().map((entry: Record<string, string>) => {
    const { actor, action, target, outcome } = entry
    return [actor, action, target, outcome]
  })
  expect(entries).toEqual([
    ['token:platform', 'session.create', 'ana@loja', 'done'],
    ['console:ana@loja', 'key.create', created.id, 'done'],
    ['console:ana@loja', 'key.roll', created.id, 'done'],
    ['console:ana@loja', 'key.revoke', rolled.id, 'done'],
    ['console:ana@loja', 'sandbox_order.create', order.id, 'done'],
    ['console:ana@loja', 'sandbox_order.change', order.id, 'done'],
    ['console:ana@loja', 'session.end', 'ana@loja', 'done'],
  ])
  const log = JSON.stringify(json)
  for (const secret of [session, created.key, rolled.key]) expect(log).not.toContain(secret)
})
