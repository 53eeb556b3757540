import { describe, expect, it } from 'vitest'
import { statusJson } from '../../../../src/webhooks/management/webhook-json.ts'
import { NOW, useManagement } from './management.ts'

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
