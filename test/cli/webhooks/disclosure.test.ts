import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { makeCertificate } from '../../harness/services/certificate.ts'
import { type OtlpReceiver, startOtlpReceiver } from '../../support/http/otlp-receiver.ts'
import { BUYER, BUYER_DOCUMENT, orderWithBuyerData } from '../../support/webhooks/buyer-data.ts'
import {
  type Receiver,
  type Responder,
  response,
  startReceiver,
} from '../../support/webhooks/sending/receiver.ts'
import {
  DELIVERING,
  eventually,
  type RunningDispatcher,
  startDispatcher,
} from './running-dispatcher.ts'
import { openWebhookCommands } from './webhook-commands.ts'

/** Of the URLs of receivers. */
const PATH = 'private-path'
const QUERY = 'private-query'

/** Each receiver repeats what it received. */
const answers: Record<string, Responder> = {
  accepted: (socket, { body }) => socket.write(response(200, {}, body)),
  refused: (socket, { body }) => socket.write(response(500, {}, body)),
  gone: (socket, { body }) => socket.write(response(410, {}, body)),
  redirected: (socket, { body }) =>
    socket.write(response(302, { location: `/${PATH}?token=${QUERY}` }, body)),
  reset: (socket) => socket.resetAndDestroy(),
  operator: (socket, { body }) => socket.write(response(503, {}, body)),
}

/** What `webhooks deliver` disclosed of its work, by where. */
const disclosed = { log: '', metrics: '', traces: '' }
let plain: Receiver
let tls: Receiver
let collector: OtlpReceiver
let commands: ReturnType<typeof openWebhookCommands>
let dispatcher: RunningDispatcher
/** Secrets of endpoints, and of the service. */
const secrets = [DELIVERING.WEBHOOK_SECRETS.replace('k1:', '')]

const urlOf = ({ url }: Receiver, name: string) =>
  `${url.replace('/webhooks', '')}/${name}/${PATH}?token=${QUERY}`

describe('what webhooks deliver discloses', () => {
  beforeAll(async () => {
    plain = await startReceiver((socket, request) => {
      const [, name = ''] = /^POST \/(\w+)/.exec(request.head) ?? []
      answers[name]?.(socket, request)
    })
    tls = await startReceiver(() => {}, { certificate: await makeCertificate() })
    collector = await startOtlpReceiver()
    const traced = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    }
    // OpenTelemetry reads the environment of this process.
    for (const [name, value] of Object.entries(traced)) vi.stubEnv(name, value)
    commands = openWebhookCommands({
      ...DELIVERING,
      ...traced,
      LOG_LEVEL: 'trace',
      OPERATOR_WEBHOOK_URL: urlOf(plain, 'operator'),
    })
    const urls = ['accepted', 'refused', 'gone', 'redirected', 'reset'].map((name) =>
      urlOf(plain, name),
    )
    for (const url of [...urls, urlOf(tls, 'untrusted')]) {
      const { secret } = await commands.json('create', '--account', 'acc_1', '--url', url)
      secrets.push(secret.replace('whsec_', ''))
    }
    dispatcher = await startDispatcher(commands.env)
    await commands.load(orderWithBuyerData())
    await eventually(() => {
      const { stderr } = dispatcher.output()
      const failures = [
        'the response has status 500',
        'the response has status 410',
        'the response is a redirect (302)',
        'the connection ended before the response',
        'the TLS certificate is not valid',
        'a webhook endpoint was disabled',
      ]
      for (const failure of failures) expect(stderr).toContain(failure)
      expect(plain.requests.map(({ head }) => head).join()).toContain('POST /accepted')
      expect(plain.requests.map(({ head }) => head).join()).toContain('POST /operator')
    })
    await eventually(async () => {
      disclosed.metrics = await dispatcher.metrics()
      expect(disclosed.metrics).toMatch(/^webhook_attempts_total\{outcome="delivered"\} [1-9]/m)
    })
    await dispatcher.stop()
    disclosed.log = Object.values(dispatcher.output()).join('\n')
    disclosed.traces = collector.requests.map(({ body }) => body.toString()).join('\n')
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await plain.close()
    await tls.close()
    await collector.close()
    await commands.remove()
  })

  it('a notice that the operator does not accept is logged without its URL', () => {
    expect(disclosed.log).toContain('OPERATOR_WEBHOOK_URL did not accept a notice')
    expect(disclosed.log).not.toContain('/operator')
  })

  it('the buyer was in what the receivers got', () => {
    expect(plain.requests.map(({ body }) => body).join()).toContain(BUYER)
  })

  it.each(['log', 'metrics', 'traces'] as const)(
    'the %s of webhooks deliver has no secret, signature, URL path or query, and no data of a buyer',
    (where) => {
      const text = disclosed[where]
      expect(text).toMatch(/webhook/)
      for (const secret of secrets) expect(text).not.toContain(secret)
      for (const hidden of [PATH, QUERY, BUYER, BUYER_DOCUMENT, 'whsec_', 'v1,'])
        expect(text).not.toContain(hidden)
    },
  )

  it.each(['metrics', 'traces'] as const)(
    'the %s of webhooks deliver name no account, order or receiver',
    (where) => {
      const text = disclosed[where]
      const hosts = [plain, tls].map(({ port }) => `:${port}`)
      for (const id of ['acc_1', 'ord_1', '127.0.0.1', ...hosts]) expect(text).not.toContain(id)
    },
  )
})
