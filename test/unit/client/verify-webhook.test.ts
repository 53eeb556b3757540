import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import {
  UsageError,
  type VerifyWebhookOptions,
  verifyWebhook,
  type WebhookBody,
  type WebhookHeaders,
  WebhookVerificationError,
} from '../../../src/client/client.ts'
import { eventExamples } from '../../../src/openapi/webhooks/event-examples.ts'
import {
  OTHER_SECRET,
  SECRET,
  signDelivery,
} from '../../support/webhooks/sending/signed-delivery.ts'

const NOW_MS = 1_772_366_700_000
const ID = 'evt_4bC0dE1fG2hI3jK4lM5nO6pQ'
const BODY = JSON.stringify(eventExamples()['order.paid'])
const { headers: HEADERS } = signDelivery(ID, BODY, { nowMs: NOW_MS })

interface Case {
  body?: WebhookBody
  headers?: WebhookHeaders
  secrets?: string | string[]
  options?: VerifyWebhookOptions
}

const verify = ({ body = BODY, headers = HEADERS, secrets = SECRET, options = {} }: Case = {}) =>
  verifyWebhook(body, headers, secrets, { now: () => NOW_MS, ...options })
const signedAt = (nowMs: number) => ({ headers: signDelivery(ID, BODY, { nowMs }).headers })
/** A delivery with a header for each signature. */
function twoHeaders(...secrets: string[]): Case {
  const signatures = secrets.map(
    (secret) =>
      signDelivery(ID, BODY, { nowMs: NOW_MS, secrets: [secret] }).headers['webhook-signature'],
  )
  const headers = new Headers(without('webhook-signature'))
  for (const signature of signatures) headers.append('webhook-signature', signature)
  return { headers }
}
const without = (name: string) =>
  Object.fromEntries(Object.entries(HEADERS).filter(([key]) => key !== name))

describe('a webhook signed by the public package is accepted', () => {
  it.each<[string, Case]>([
    ['with its secret', {}],
    ['with a line break after the secret', { secrets: `${SECRET}\n` }],
    ['with a secret without its prefix', { secrets: SECRET.replace('whsec_', '') }],
    ['with the second of two secrets', { secrets: [OTHER_SECRET, SECRET] }],
    ['with the first of two secrets', { secrets: [SECRET, OTHER_SECRET] }],
    ['as bytes', { body: new TextEncoder().encode(BODY) }],
    ['as a Buffer', { body: Buffer.from(BODY) }],
    ['as an ArrayBuffer', { body: new TextEncoder().encode(BODY).buffer }],
    ['with Headers', { headers: new Headers(HEADERS) }],
    [
      'with header names in upper case',
      {
        headers: Object.fromEntries(
          Object.entries(HEADERS).map(([name, value]) => [name.toUpperCase(), value]),
        ),
      },
    ],
    [
      'with header values as lists',
      {
        headers: Object.fromEntries(Object.entries(HEADERS).map(([name, one]) => [name, [one]])),
      },
    ],
    [
      'with two headers of a signature, of which the first is ours',
      twoHeaders(SECRET, OTHER_SECRET),
    ],
    [
      'with two headers of a signature, of which the last is ours',
      twoHeaders(OTHER_SECRET, SECRET),
    ],
    [
      'with two signatures, of which the first is ours',
      signDelivery(ID, BODY, { nowMs: NOW_MS, secrets: [SECRET, OTHER_SECRET] }),
    ],
    [
      'with two signatures, of which the second is ours',
      signDelivery(ID, BODY, { nowMs: NOW_MS, secrets: [OTHER_SECRET, SECRET] }),
    ],
    [
      'beside a signature of an unknown version',
      {
        headers: {
          ...HEADERS,
          'webhook-signature': `v1a,AAAA ${HEADERS['webhook-signature']}`,
        },
      },
    ],
    ['five minutes old', signedAt(NOW_MS - 300_000)],
    ['five minutes ahead', signedAt(NOW_MS + 300_999)],
    [
      'within a tolerance of one hour',
      { ...signedAt(NOW_MS - 3_600_000), options: { toleranceSeconds: 3600 } },
    ],
  ])('a webhook signed by the public package is accepted %s', async (_what, accepted) => {
    expect(await verify(accepted)).toEqual(JSON.parse(BODY))
  })

  it('with the system clock by default', async () => {
    const { headers } = signDelivery(ID, BODY)
    expect(await verifyWebhook(BODY, headers, SECRET)).toEqual(JSON.parse(BODY))
  })

  it('a webhook with text outside ASCII and escaped names is returned unchanged', async () => {
    const body = '{"id":"evt_1","type":"order.paid","data":{"tracking":{"\\\\":"é","\\"":"🙂"}}}'
    const { headers } = signDelivery(ID, body, { nowMs: NOW_MS })
    const event = await verify({ body, headers })
    expect(event).toMatchObject({ data: { tracking: { '\\': 'é', '"': '🙂' } } })
  })
})

describe('a webhook is rejected', () => {
  const signature = HEADERS['webhook-signature']
  it.each<[string, Case, string, RegExp]>([
    ['a changed body', { body: BODY.replace('9900', '9901') }, 'wrong_signature', /bytes/],
    [
      'a body that was parsed and printed again',
      { body: JSON.stringify(JSON.parse(BODY), null, 1) },
      'wrong_signature',
      /exatamente como chegou/,
    ],
    [
      'the secret of another endpoint',
      { secrets: OTHER_SECRET },
      'wrong_signature',
      /deste endpoint/,
    ],
    [
      'another id',
      { headers: { ...HEADERS, 'webhook-id': 'evt_2' } },
      'wrong_signature',
      /assinatura/,
    ],
    [
      'another timestamp',
      { headers: { ...HEADERS, 'webhook-timestamp': '1772366701' } },
      'wrong_signature',
      /assinatura/,
    ],
    [
      'a signature without its end',
      { headers: { ...HEADERS, 'webhook-signature': signature.slice(0, -1) } },
      'wrong_signature',
      /assinatura/,
    ],
    [
      'an empty signature',
      { headers: { ...HEADERS, 'webhook-signature': 'v1,' } },
      'wrong_signature',
      /assinatura/,
    ],
    [
      'only a signature of another version',
      { headers: { ...HEADERS, 'webhook-signature': signature.replace('v1', 'v2') } },
      'unsupported_signature',
      /v1/,
    ],
    [
      'an age of five minutes and a second',
      signedAt(NOW_MS - 301_000),
      'timestamp_too_old',
      / 301 s; o limite é 300 s.*NTP/,
    ],
    [
      'a time of five minutes and a second ahead',
      signedAt(NOW_MS + 301_000),
      'timestamp_too_new',
      / 301 s; o limite é 300 s.*NTP/,
    ],
    ...['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
      (name): [string, Case, string, RegExp] => [
        `no ${name}`,
        { headers: without(name) },
        'missing_header',
        new RegExp(`Falta o cabeçalho ${name}`),
      ],
    ),
  ])('a webhook is rejected for %s', async (_what, rejected, reason, message) => {
    const error = await verify(rejected).catch((cause) => cause)
    expect(error).toBeInstanceOf(WebhookVerificationError)
    expect(error).toMatchObject({ name: 'WebhookVerificationError', reason })
    expect(error.message).toMatch(message)
  })

  it.each(['not JSON', '{}', 'null', '[]', '{"id":1,"type":"order.paid"}'])(
    'a webhook is rejected for the signed body %s',
    async (body) => {
      const { headers } = signDelivery(ID, body, { nowMs: NOW_MS })
      await expect(verify({ body, headers })).rejects.toMatchObject({ reason: 'invalid_body' })
    },
  )

  it.each(['', 'soon', '1772366700.5', '-1', '0x69a'])(
    'a webhook is rejected for the signed timestamp "%s"',
    async (text) => {
      const body = '{"id":"evt_1","type":"webhook.test"}'
      const headers = { ...HEADERS, 'webhook-timestamp': text }
      const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64')
      const digest = createHmac('sha256', key).update(`${ID}.${text}.${body}`).digest('base64')
      const rejected = verify({
        body,
        headers: { ...headers, 'webhook-signature': `v1,${digest}` },
      })
      await expect(rejected).rejects.toMatchObject({
        reason: text === '' ? 'missing_header' : 'invalid_timestamp',
      })
    },
  )

  it('never names the secret, the body or a signature', async () => {
    const error = await verify({ secrets: OTHER_SECRET }).catch((cause) => cause)
    const shown = `${error.message} ${JSON.stringify(error)}`
    expect(shown).not.toContain(OTHER_SECRET.slice(6, 20))
    expect(shown).not.toContain('ana@exemplo.com.br')
    expect(shown).not.toContain(signature.slice(3, 20))
  })
})

describe('a mistake of the receiver is reported as one', () => {
  it.each<[string, Case, RegExp]>([
    ['a parsed body', { body: JSON.parse(BODY) }, /express\.raw/],
    ['no secret', { secrets: [] }, /Falta o segredo/],
    ['an empty secret', { secrets: '' }, /whsec_/],
    ['an unset variable', { secrets: [process.env['UNSET']] as string[] }, /whsec_/],
    ['an API key as the secret', { secrets: 'key_live_0123456789' }, /whsec_/],
    ['a cut secret', { secrets: SECRET.slice(0, -3) }, /não está inteiro/],
    ['an invalid tolerance', { options: { toleranceSeconds: Number.NaN } }, /toleranceSeconds/],
  ])('a mistake of the receiver is reported as one: %s', async (_what, mistake, message) => {
    const error = await verify(mistake).catch((cause) => cause)
    expect(error).toBeInstanceOf(UsageError)
    expect(error.message).toMatch(message)
    expect(error.message).not.toContain('key_live_')
  })
})

it('the client and the public package agree on random changes of a delivery', async () => {
  const oracle = new Webhook(SECRET)
  const nowMs = Date.now() // The public package has no clock as an argument.
  const { headers } = signDelivery(ID, BODY, { nowMs })
  const text = JSON.stringify({ headers, body: BODY })
  let accepted = 0
  for (let at = 0; at < text.length; at += 7) {
    const changed = `${text.slice(0, at)}x${text.slice(at + 1)}`
    const delivery = parsed(changed)
    if (delivery === null) continue
    const expected = isAccepted(() => oracle.verify(delivery.body, delivery.headers))
    const ours = verifyWebhook(delivery.body, delivery.headers, SECRET).then(
      () => true,
      () => false,
    )
    expect([at, await ours]).toEqual([at, expected])
    accepted += expected ? 1 : 0
  }
  expect(accepted).toBeGreaterThan(0) // Changes of headers that are not signed.
})

function parsed(text: string): { headers: Record<string, string>; body: string } | null {
  try {
    const delivery = JSON.parse(text)
    return typeof delivery.body === 'string' && delivery.headers ? delivery : null
  } catch {
    return null
  }
}

function isAccepted(verification: () => unknown): boolean {
  try {
    verification()
    return true
  } catch {
    return false
  }
}
