import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { reply, response } from '../../../support/webhooks/sending/receiver.ts'
import { openReceiver, openSender } from '../../../support/webhooks/sending/sender.ts'

describe('the request of the sender', () => {
  it('the request is a POST of exactly the given bytes with the given headers', async () => {
    const receiver = await openReceiver(reply(response(200)))
    const body = Buffer.from('{"name":"Conceição 🎉"}')
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'public-orders-api-webhooks/1',
      'webhook-signature': 'v1,a v1,b',
    }
    await openSender().send({ url: `${receiver.url}?x=%20y`, headers, body })
    const [request] = receiver.requests
    expect(request?.head.split('\r\n')).toEqual([
      'POST /webhooks?x=%20y HTTP/1.1',
      `host: 127.0.0.1:${receiver.port}`,
      'connection: keep-alive',
      'content-type: application/json',
      'user-agent: public-orders-api-webhooks/1',
      'webhook-signature: v1,a v1,b',
      'accept-encoding: identity',
      `content-length: ${body.length}`,
    ])
    expect(Buffer.from(request?.body ?? '', 'latin1')).toEqual(body)
  })

  it('the result has the duration in milliseconds', async () => {
    const receiver = await openReceiver(reply(response(200)))
    const instants = [1_000, 1_000, 1_250]
    const sender = openSender({ monotonic: () => instants.shift() ?? 1_250 })
    expect((await sender.post(receiver.url)).durationMs).toBe(250)
  })

  it('a URL that is not valid is a failure', async () => {
    expect(await openSender().post('https://')).toEqual({
      status: null,
      error: 'the URL is not valid',
      retryAfterMs: null,
      durationMs: expect.any(Number),
      excerpt: null,
    })
  })

  it('a failure repeats neither path nor query of the URL', async () => {
    const receiver = await openReceiver((socket) => socket.resetAndDestroy())
    const result = await openSender().post(`${receiver.url}?token=t0ken`)
    expect(JSON.stringify(result)).not.toMatch(/t0ken|webhooks/)
  })
})

describe('the connections of the sender', () => {
  it('requests of one origin reuse a connection', async () => {
    const receiver = await openReceiver(reply(response(200)))
    const sender = openSender()
    for (let count = 0; count < 5; count++) {
      await sender.post(receiver.url)
      await pause(5) // A connection is idle only after a turn of the event loop.
    }
    expect(receiver.requests).toHaveLength(5)
    expect(receiver.connections).toBe(1)
  })

  it('another sender, which may have another policy, opens its own connection', async () => {
    const receiver = await openReceiver(reply(response(200)))
    await openSender().post(receiver.url)
    await openSender().post(receiver.url)
    expect(receiver.connections).toBe(2)
  })

  it('an endpoint that never responds does not delay another one of the same origin', async () => {
    const receiver = await openReceiver((socket, { head }) => {
      if (!head.startsWith('POST /slow')) socket.write(response(200))
    })
    const sender = openSender()
    const slow = Array.from({ length: 32 }, () => sender.post(new URL('/slow', receiver.url).href))
    const fast = await sender.post(new URL('/fast', receiver.url).href)
    expect(fast).toMatchObject({ status: 200 })
    await sender.close(0)
    for (const { error } of await Promise.all(slow)) expect(error).toBe('the sender is closed')
  })

  it('a request whose deadline passes before its connection is not sent later', async () => {
    const receiver = await openReceiver(reply(response(200)))
    const sender = openSender({
      timeoutMs: 50,
      resolve: async () => {
        await pause(45)
        await pause(45)
        return ['127.0.0.1']
      },
    })
    const result = await sender.post(`http://receiver.example:${receiver.port}/`)
    expect(result.error).toMatch(/^no (response|connection) within 0.05 s$/)
    await sender.close(0)
    expect(receiver.requests).toEqual([])
  })

  it('a connection older than its limit is not reused, so the name is checked again', async () => {
    const receiver = await openReceiver(reply(response(200)))
    let address = '127.0.0.1'
    let now = 0
    const sender = openSender({
      connectionTtlMs: 1_000,
      monotonic: () => now,
      resolve: async () => [address],
    })
    const url = `http://receiver.example:${receiver.port}/`
    expect(await sender.post(url)).toMatchObject({ status: 200 })
    await pause(5)
    address = '10.0.0.1'
    now = 999
    expect(await sender.post(url)).toMatchObject({ status: 200 })
    await pause(5)
    now = 1_000
    expect(await sender.post(url)).toMatchObject({ status: null })
  })

  it('the sender closes after the requests in flight, and sends nothing afterwards', async () => {
    let answer = () => {}
    const receiver = await openReceiver((socket) => {
      answer = () => socket.write(response(200))
    })
    const sender = openSender()
    const pending = sender.post(receiver.url)
    await expect.poll(() => receiver.requests.length).toBe(1)
    const closed = sender.close(60_000)
    expect(await sender.post(receiver.url)).toMatchObject({ error: 'the sender is closed' })
    answer()
    expect(await pending).toMatchObject({ status: 200 })
    await closed
    await expect.poll(() => receiver.openConnections).toBe(0)
    expect(receiver.requests).toHaveLength(1)
  })

  it('the sender ends requests that are in flight after the grace, also on older connections', async () => {
    const receiver = await openReceiver(() => {})
    let now = 0
    const sender = openSender({ connectionTtlMs: 1_000, monotonic: () => now })
    const pending = [sender.post(receiver.url)]
    await expect.poll(() => receiver.requests.length).toBe(1)
    now = 1_000
    pending.push(sender.post(receiver.url))
    await expect.poll(() => receiver.requests.length).toBe(2)
    await sender.close(10)
    const ended = { status: null, error: 'the sender is closed' }
    expect(await Promise.all(pending)).toMatchObject([ended, ended])
    await expect.poll(() => receiver.openConnections).toBe(0)
  })
})
