import { afterEach, beforeEach, expect, it } from 'vitest'
import { openWebhookCommands } from './webhook-commands.ts'

let commands: ReturnType<typeof openWebhookCommands>
beforeEach(() => {
  commands = openWebhookCommands()
})
afterEach(() => commands.remove())

/** The entries of the audit log, oldest first. */
const audited = () =>
  commands.withServices(async ({ managementStores }) => {
    const entries = await managementStores.audit.list({ limit: 100, after: null })
    return entries.toReversed()
  })

it('every webhooks command that changes something is in the audit log, once, without a secret', async () => {
  const { id, secret } = await commands.create()
  const { id: deliveryId } = await commands.deliver(id, { state: 'delivered', nextAt: null })
  await commands.loadOrder()
  await commands.json('update', id, '--payload', 'thin')
  const { secret: rolled } = await commands.json('roll-secret', id)
  await commands.json('resend', deliveryId)
  await commands.json('replay', id, '--since', new Date(Date.now() - 60_000).toISOString())
  await commands.json('disable', id)
  await commands.run('resend', deliveryId)
  await commands.json('enable', id)
  await commands.json('list', '--account', 'acc_1')
  await commands.json('deliveries', id)
  await commands.json('delete', id)
  await commands.run('delete', id)
  await commands.backend.refresh()

  const entries = await audited()
  expect(entries.map(({ action, target, outcome }) => [action, target, outcome])).toEqual([
    ['webhook_endpoint.create', id, 'done'],
    ['webhook_endpoint.update', id, 'done'],
    ['webhook_endpoint.roll_secret', id, 'done'],
    ['delivery.resend', deliveryId, 'done'],
    ['webhook_endpoint.replay', id, 'done'],
    ['webhook_endpoint.disable', id, 'done'],
    ['delivery.resend', deliveryId, 'failed'],
    ['webhook_endpoint.enable', id, 'done'],
    ['webhook_endpoint.delete', id, 'done'],
  ])
  for (const { actor, requestId, accountId } of entries) {
    expect({ actor, requestId, accountId }).toEqual({
      actor: 'cli',
      requestId: null,
      accountId: 'acc_1',
    })
  }
  const text = JSON.stringify(entries)
  for (const hidden of [secret, rolled, 'receiver.example']) expect(text).not.toContain(hidden)
})
