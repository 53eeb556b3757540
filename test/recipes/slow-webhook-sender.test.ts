import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { SECRET } from '../support/webhooks/sending/signed-delivery.ts'
import { receivers } from './webhooks/receivers.ts'

// Each connection has a thread there. Node and PHP have limits of their own.
it.each(['Python'])('the webhook receiver in %s closes a connection that stops', async (name) => {
  const receiver = await receivers[name]?.([SECRET])
  if (receiver === undefined) throw new Error(`no receiver in ${name}`)
  try {
    const { hostname, port, host } = new URL(receiver.url)
    const socket = connect(Number(port), hostname)
    socket.write(`POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 10\r\n\r\n{`)
    expect(await text(socket)).toBe('')
  } finally {
    await receiver.close()
  }
})
