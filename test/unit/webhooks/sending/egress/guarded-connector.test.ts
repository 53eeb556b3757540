import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { makeCertificate } from '../../../../harness/services/certificate.ts'
import { type Receiver, reply, response } from '../../../../support/webhooks/sending/receiver.ts'
import { openReceiver, openSender } from '../../../../support/webhooks/sending/sender.ts'

const NOT_PUBLIC = 'the host name resolves to an address that is not public'
const NAME = 'receiver.example'

const resolveTo =
  (...addresses: string[]) =>
  async () =>
    addresses
const receiveAll = () => openReceiver(reply(response(200)))

describe('the connector without WEBHOOK_ALLOW', () => {
  it.each([
    'https://127.0.0.1:8443/',
    'https://2130706433:8443/',
    'https://0x7f.1:8443/',
    'https://[::1]:8443/',
    'https://[::ffff:127.0.0.1]:8443/',
    'https://[::7f00:1]:8443/',
    'https://168.63.129.16/',
    'https://localhost:8443/',
    'https://receiver.localhost./',
  ])('the connector refuses %s without resolving a name', async (url) => {
    const resolved: string[] = []
    const sender = openSender({
      allow: [],
      resolve: async (name) => {
        resolved.push(name)
        return ['8.8.8.8']
      },
    })
    expect(await sender.post(url)).toMatchObject({
      status: null,
      error: expect.stringContaining('not a public address'),
    })
    expect(resolved).toEqual([])
  })

  it.each([
    ['http://receiver.example/', 'uses http:'],
    ['https://receiver.example:9200/', 'uses port 9200'],
  ])('the connector refuses %s, also when it was stored earlier: %s', async (url, culprit) => {
    const sender = openSender({ allow: [], resolve: resolveTo('8.8.8.8') })
    expect((await sender.post(url)).error).toContain(culprit)
  })

  it.each([
    ['private', ['10.0.0.1']],
    ['loopback', ['127.0.0.1']],
    ['metadata', ['169.254.169.254']],
    ['IPv4-mapped loopback', ['::ffff:127.0.0.1']],
    ['NAT64 loopback', ['64:ff9b::7f00:1']],
    ['zoned', ['2606:4700::1111%eth0']],
    ['public and private', ['8.8.8.8', '10.0.0.1']],
    ['private and public', ['::1', '2606:4700::1111']],
    ['invalid', ['2130706433']],
    ['no', []],
  ])('a name with %s addresses is refused', async (_, addresses) => {
    const sender = openSender({ allow: [], resolve: resolveTo(...addresses) })
    expect(await sender.post(`https://${NAME}:8443/`)).toMatchObject({
      status: null,
      error: NOT_PUBLIC,
    })
  })

  it('the error of a refused name contains no address', async () => {
    const sender = openSender({ allow: [], resolve: resolveTo('10.1.2.3') })
    expect(JSON.stringify(await sender.post(`https://${NAME}/`))).not.toContain('10.1')
  })
})

describe('the connector with WEBHOOK_ALLOW', () => {
  it('a name is connected to at the address that was resolved, with its own Host header', async () => {
    const receiver = await receiveAll()
    const sender = openSender({ resolve: resolveTo('127.0.0.1') })
    const result = await sender.post(`http://${NAME}:${receiver.port}/hook?source=orders`)
    expect(result).toMatchObject({ status: 200, error: null })
    expect(receiver.requests[0]?.head).toMatch(
      new RegExp(`^POST /hook\\?source=orders HTTP/1.1\r\nhost: ${NAME}:${receiver.port}\r\n`),
    )
  })

  it('a name is resolved once for a connection', async () => {
    const receiver = await receiveAll()
    const answers = [['127.0.0.1'], ['10.0.0.1']]
    const sender = openSender({ resolve: async () => answers.shift() ?? [] })
    expect(await sender.post(`http://${NAME}:${receiver.port}/`)).toMatchObject({ status: 200 })
    expect(answers).toHaveLength(1)
  })

  it('a name that rebinds to a forbidden address is refused at the next connection', async () => {
    const receiver = await receiveAll()
    const answers = [['127.0.0.1'], ['10.0.0.1']]
    const sender = openSender({ resolve: async () => answers.shift() ?? [] })
    const url = `http://${NAME}:${receiver.port}/`
    expect(await sender.post(url)).toMatchObject({ status: 200 })
    receiver.disconnect()
    await expect.poll(() => receiver.openConnections).toBe(0)
    expect(await sender.post(url)).toMatchObject({ status: null, error: NOT_PUBLIC })
  })

  it('over http, a name must have an address in WEBHOOK_ALLOW, not a public one', async () => {
    const sender = openSender({ resolve: resolveTo('8.8.8.8') })
    expect(await sender.post(`http://${NAME}/`)).toMatchObject({ error: NOT_PUBLIC })
  })

  it('the system resolves localhost', async () => {
    const receiver = await receiveAll()
    const result = await openSender().post(`http://localhost:${receiver.port}/`)
    expect(result).toMatchObject({ status: 200, error: null })
  })

  it('an address that refuses the connection leaves the next one', async () => {
    const receiver = await receiveAll()
    const sender = openSender({ resolve: resolveTo('::1', '127.0.0.1') })
    expect(await sender.post(`http://${NAME}:${receiver.port}/`)).toMatchObject({ status: 200 })
  })
})

describe('a name with many addresses', () => {
  const refusing = (count: number, from = 2) =>
    Array.from({ length: count }, (_, at) => `127.0.0.${from + at}`)

  it('is reached at its eighth address, after seven that refuse the connection', async () => {
    const receiver = await receiveAll()
    const sender = openSender({ resolve: resolveTo(...refusing(7), '127.0.0.1') })
    expect(await sender.post(`http://${NAME}:${receiver.port}/`)).toMatchObject({ status: 200 })
  })

  it('is reached at its first IPv6 address, after eight of IPv4', async () => {
    const receiver = await openReceiver(reply(response(200)), { host: '::1' })
    const sender = openSender({ resolve: resolveTo(...refusing(9), '::1') })
    expect(await sender.post(`http://${NAME}:${receiver.port}/`)).toMatchObject({ status: 200 })
  })

  it('is connected to at no more than eight of them, so that an attempt is no flood', async () => {
    const receiver = await receiveAll()
    const sender = openSender({ resolve: resolveTo(...refusing(8), '127.0.0.1') })
    expect(await sender.post(`http://${NAME}:${receiver.port}/`)).toMatchObject({
      status: null,
      error: 'the connection was refused',
    })
    expect(receiver.requests).toEqual([])
  })
})

describe('a name that does not resolve', () => {
  const failWith = (code: string) => async () => {
    throw Object.assign(new Error(`query ${code} ${NAME}`), { code })
  }

  it.each([
    ['ENOTFOUND', 'the host name does not resolve'],
    ['ENODATA', 'the host name does not resolve'],
    ['ETIMEOUT', 'the name servers of the host do not respond'],
    ['ESERVFAIL', 'the name servers of the host do not respond'],
  ])('the DNS error %s is reported: %s', async (code, error) => {
    const sender = openSender({ resolve: failWith(code) })
    expect(await sender.post(`https://${NAME}/`)).toMatchObject({ status: null, error })
  })

  it('a resolution without end fails at the limit for connections', async () => {
    const sender = openSender({
      timeoutMs: 2_000,
      connectTimeoutMs: 100,
      resolve: () => new Promise(() => {}),
    })
    expect(await sender.post(`https://${NAME}/`)).toMatchObject({
      error: 'no connection within 0.1 s',
    })
  })
})

describe('TLS', () => {
  const url = (receiver: Receiver) => `https://${NAME}:${receiver.port}/`
  const resolve = resolveTo('127.0.0.1')
  const daysFromNow = (days: number) => new Date(Date.now() + days * 86_400_000)

  it('the receiver gets the name of the URL by SNI', async () => {
    const certificate = await makeCertificate({ name: NAME })
    const receiver = await openReceiver(reply(response(200)), { certificate })
    const sender = openSender({ ca: certificate.ca, resolve })
    expect(await sender.post(url(receiver))).toMatchObject({ status: 200, error: null })
    expect(receiver.requests[0]?.servername).toBe(NAME)
  })

  it.each([
    ['expired', 'expired', { notBeforeDate: daysFromNow(-2), notAfterDate: daysFromNow(-1) }],
    ['that starts later', 'not valid yet', { notBeforeDate: daysFromNow(1) }],
    ['of another host', 'issued for another host', { name: 'other.example' }],
    ['of a name below', 'issued for another host', { name: `sub.${NAME}` }],
  ])('a certificate %s is refused', async (_, reason, options) => {
    const certificate = await makeCertificate({ name: NAME, ...options })
    const receiver = await openReceiver(reply(response(200)), { certificate })
    const sender = openSender({ ca: certificate.ca, resolve })
    expect(await sender.post(url(receiver))).toMatchObject({
      status: null,
      error: `the TLS certificate is not valid: ${reason}`,
    })
    expect(receiver.requests).toEqual([])
  })

  it.each([
    ['self-signed', 'self-signed', true],
    ['of an unknown authority', 'its issuer is unknown, or its chain is incomplete', false],
  ])('a certificate that is %s is refused', async (_, reason, isSelfSigned) => {
    const certificate = await makeCertificate({ name: NAME, isSelfSigned })
    const receiver = await openReceiver(reply(response(200)), { certificate })
    expect(await openSender({ resolve }).post(url(receiver))).toMatchObject({
      status: null,
      error: `the TLS certificate is not valid: ${reason}`,
    })
    expect(receiver.requests).toEqual([])
  })

  it('a certificate is verified also where NODE_TLS_REJECT_UNAUTHORIZED is 0', async () => {
    const certificate = await makeCertificate({ name: NAME })
    const receiver = await openReceiver(reply(response(200)), { certificate })
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    onTestFinished(() => void vi.unstubAllEnvs())
    const result = await openSender({ resolve }).post(url(receiver))
    expect(result.error).toContain('the TLS certificate is not valid')
  })

  it('a port that speaks plain HTTP is a failure', async () => {
    const server = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    expect(await openSender().post(`https://127.0.0.1:${port}/`)).toMatchObject({
      status: null,
      error: 'the TLS handshake failed',
    })
  })

  it('a TLS handshake without end fails at the limit for connections', async () => {
    const receiver = await openReceiver(() => {})
    const sender = openSender({ timeoutMs: 2_000, connectTimeoutMs: 100 })
    expect(await sender.post(`https://127.0.0.1:${receiver.port}/`)).toMatchObject({
      error: 'no connection within 0.1 s',
    })
  })
})
