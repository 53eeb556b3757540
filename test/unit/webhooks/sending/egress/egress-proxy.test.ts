import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Certificate, makeCertificate } from '../../../../harness/services/certificate.ts'
import { reply, response } from '../../../../support/webhooks/sending/receiver.ts'
import { openReceiver, openSender } from '../../../../support/webhooks/sending/sender.ts'

const NAME = 'receiver.example'

/** A proxy that connects every name to one port of the loopback address. */
async function openProxy(targetPort: number) {
  const requests: { line: string; authorization: string | undefined }[] = []
  const server = createServer()
  server.on('connect', ({ url, headers }, client, head) => {
    requests.push({ line: `CONNECT ${url}`, authorization: headers['proxy-authorization'] })
    const target = connect(targetPort, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connected\r\n\r\n')
      target.write(head)
      client.pipe(target).pipe(client)
    })
    client.on('error', () => target.destroy())
    client.on('close', () => target.destroy())
    target.on('error', () => client.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return { port, requests }
}

describe('the sender behind an egress proxy', () => {
  let certificate: Certificate
  beforeAll(async () => {
    certificate = await makeCertificate({ name: NAME })
  })

  const openProxiedSender = (port: number, options: Parameters<typeof openSender>[0] = {}) =>
    openSender({
      allow: [],
      ca: certificate.ca,
      proxyUrl: `http://user:p%40ss@127.0.0.1:${port}`,
      ...options,
    })

  it('the proxy resolves the name, and TLS ends at the receiver', async () => {
    const receiver = await openReceiver(reply(response(200)), { certificate })
    const proxy = await openProxy(receiver.port)
    const sender = openProxiedSender(proxy.port)
    expect(await sender.post(`https://${NAME}:8443/hook`)).toMatchObject({
      status: 200,
      error: null,
    })
    const authorization = `Basic ${Buffer.from('user:p@ss').toString('base64')}`
    expect(proxy.requests).toEqual([{ line: `CONNECT ${NAME}:8443`, authorization }])
    expect(receiver.requests[0]?.head).toMatch(/^POST \/hook /)
    expect(receiver.requests[0]?.head).not.toContain('proxy')
    expect(receiver.requests[0]?.servername).toBe(NAME)
  })

  it('a response without end is read up to a limit', async () => {
    const receiver = await openReceiver(
      (socket) => {
        const block = '\r\n'.repeat(50_000)
        const send = () => {
          while (!socket.destroyed && socket.write(block));
        }
        socket.on('drain', send)
        send()
      },
      { certificate },
    )
    const proxy = await openProxy(receiver.port)
    const result = await openProxiedSender(proxy.port).post(`https://${NAME}:8443/hook`)
    expect(result).toMatchObject({ status: null, error: 'the response is too large' })
    await expect.poll(() => receiver.openConnections).toBe(0)
  })

  it.each([
    ['https://127.0.0.1/', 'not a public address'],
    ['https://[::ffff:10.0.0.1]/', 'not a public address'],
    ['https://169.254.169.254/', 'not a public address'],
    ['https://localhost/', 'not a public address'],
    [`http://${NAME}/`, 'uses http:'],
    [`https://${NAME}:9200/`, 'uses port 9200'],
  ])('%s does not reach the proxy: %s', async (url, culprit) => {
    const proxy = await openProxy(0)
    const result = await openProxiedSender(proxy.port).post(url)
    expect(result.error).toContain(culprit)
    expect(proxy.requests).toEqual([])
  })

  it('the certificate of the receiver is verified through the proxy', async () => {
    const other = await makeCertificate({ name: 'other.example' })
    const receiver = await openReceiver(reply(response(200)), { certificate: other })
    const proxy = await openProxy(receiver.port)
    const sender = openProxiedSender(proxy.port, { ca: other.ca })
    expect((await sender.post(`https://${NAME}/`)).error).toContain(
      'the TLS certificate is not valid',
    )
    expect(receiver.requests).toEqual([])
  })

  it('a proxy that refuses the connection is a failure', async () => {
    const proxy = await openReceiver(reply(response(403, {}, 'internal details')))
    const result = await openProxiedSender(proxy.port).post(`https://${NAME}/`)
    expect(result).toMatchObject({
      status: null,
      error: 'the egress proxy refused the connection',
      excerpt: null,
    })
  })

  it('a proxy that resets the connection is a failure', async () => {
    const proxy = await openReceiver((socket) => socket.resetAndDestroy())
    expect((await openProxiedSender(proxy.port).post(`https://${NAME}/`)).error).toMatch(/^the /)
  })

  it('a proxy that does not listen is a failure', async () => {
    const proxy = await openReceiver(() => {})
    await proxy.close()
    expect(await openProxiedSender(proxy.port).post(`https://${NAME}/`)).toMatchObject({
      status: null,
      error: 'the egress proxy is not available',
    })
  })

  it('a proxy that does not connect fails at the limit for connections', async () => {
    const proxy = await openReceiver(() => {})
    const sender = openProxiedSender(proxy.port, { timeoutMs: 2_000, connectTimeoutMs: 100 })
    expect(await sender.post(`https://${NAME}/`)).toMatchObject({
      error: 'no connection within 0.1 s',
    })
  })
})
