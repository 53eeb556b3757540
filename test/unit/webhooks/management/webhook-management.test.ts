import { describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../../../src/lib/durations.ts'
import { statusJson } from '../../../../src/webhooks/management/webhook-json.ts'
import { NOW, useManagement, withCode } from './management.ts'

const test = useManagement()
const status = async () => statusJson(await test.management.status(0))

describe('the status of webhooks', () => {
  it('the status of webhooks before the first endpoint is empty', async () => {
    expect(await status()).toEqual({
      dispatcher: null,
      due: 0,
      oldest_due_seconds: null,
      endpoints: { enabled: 0, failing: 0, disabled: 0 },
    })
  })

  it('the status of webhooks counts each endpoint once', async () => {
    await test.endpoint()
    await test.endpoint({ failingSince: NOW })
    await test.endpoint({ failingSince: NOW, disabledReason: 'failing' })
    await test.management.deleteEndpoint(await test.endpoint())
    expect((await status()).endpoints).toEqual({ enabled: 1, failing: 1, disabled: 1 })
  })

  it('the status of webhooks has the number of due deliveries and the age of the oldest', async () => {
    const endpoint = await test.endpoint()
    await test.deliver(endpoint, { nextAt: NOW - 2_500 })
    await test.deliver(endpoint, { nextAt: NOW, event: { sequence: 2 } })
    await test.deliver(endpoint, { nextAt: NOW + 1, event: { sequence: 3 } })
    expect(await status()).toMatchObject({ due: 2, oldest_due_seconds: 2.5 })
  })

  it('the status of webhooks names the process that delivers', async () => {
    const signal = new AbortController().signal
    const lease = await test.services.webhooks.acquireLease({ onDelay() {}, signal })
    expect((await status()).dispatcher).toEqual({ holder: expect.any(String), alive: true })
    await lease.release()
    expect((await status()).dispatcher).toMatchObject({ alive: false })
  })
})

describe('a change of an endpoint', () => {
  it.each([
    ['updating', (id: string) => test.management.updateEndpoint({ id }, { description: 'ERP' })],
    ['enabling', (id: string) => test.management.enableEndpoint({ id })],
    ['disabling', (id: string) => test.management.disableEndpoint({ id })],
    ['deleting', (id: string) => test.management.deleteEndpoint({ id })],
    ['rolling the secret of', (id: string) => test.management.rollSecret({ id }, 0)],
  ])('%s an endpoint shows it to the dispatcher again', async (_name, work) => {
    const { id } = await test.endpoint()
    const { token } = await test.changesSince(null)
    await work(id)
    expect((await test.changesSince(token)).ids).toEqual([id])
  })

  it.each([
    ['updating', (target: object) => test.management.updateEndpoint(target as never, {})],
    ['enabling', (target: object) => test.management.enableEndpoint(target as never)],
    ['disabling', (target: object) => test.management.disableEndpoint(target as never)],
    ['deleting', (target: object) => test.management.deleteEndpoint(target as never)],
    ['rolling the secret of', (target: object) => test.management.rollSecret(target as never, 0)],
    ['testing', (target: object) => test.management.sendTest(target as never)],
    ['listing', (target: object) => test.management.listDeliveries(target as never)],
    [
      'replaying',
      (target: object) => test.management.replay(target as never, { sinceMs: NOW - HOUR_MS }),
    ],
  ])("%s another account's endpoint finds none, and changes nothing", async (_name, work) => {
    const endpoint = await test.endpoint()
    const refused = work({ id: endpoint.id, accountId: 'acc_2' })
    await expect(refused).rejects.toThrow(withCode('endpoint_missing'))
    expect(await test.stored(endpoint.id)).toEqual(endpoint)
  })
})
