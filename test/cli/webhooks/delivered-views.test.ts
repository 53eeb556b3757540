import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BUYER, orderWithBuyerData, SELLER_ONLY } from '../../support/webhooks/buyer-data.ts'
import {
  type RecordingReceiver,
  startRecordingReceiver,
} from '../../support/webhooks/sending/recording-receiver.ts'
import {
  DELIVERING,
  eventually,
  type RunningDispatcher,
  startDispatcher,
} from './running-dispatcher.ts'
import { openWebhookCommands } from './webhook-commands.ts'

const commands = openWebhookCommands(DELIVERING)
afterAll(commands.remove)

let receiver: RecordingReceiver
let dispatcher: RunningDispatcher
beforeEach(async () => {
  receiver = await startRecordingReceiver()
  for (const account of ['acc_1', 'acc_2']) {
    await commands.json('create', '--account', account, '--url', receiver.url(`/${account}`))
  }
  dispatcher = await startDispatcher(commands.env)
})
afterEach(async () => {
  await dispatcher.stop()
  await receiver.close()
})

describe('the views that webhooks carry', () => {
  it('the event of a co-producer has neither tracking nor navigator', async () => {
    const paid = orderWithBuyerData()
    await commands.load(paid, { ...paid, version: 2, status: 'CANCELED' })
    const receivedBy = (account: string) =>
      receiver.received.filter(({ path }) => path === `/${account}`)
    await eventually(() => {
      for (const account of ['acc_1', 'acc_2'])
        expect(receivedBy(account).map(({ body }) => body.type)).toContain('order.canceled')
    })
    for (const { bytes, body } of receivedBy('acc_2')) {
      expect(body['data']).toMatchObject({ role: 'COPRODUCER', tracking: null, navigator: null })
      expect(bytes.toString()).toContain(BUYER)
      expect(bytes.toString()).not.toContain(SELLER_ONLY)
    }
    for (const { bytes } of receivedBy('acc_1')) expect(bytes.toString()).toContain(SELLER_ONLY)
  })
})
