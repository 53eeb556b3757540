import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import type { Endpoint } from '../../../../src/webhooks/endpoints/endpoint.ts'
import { createSigner, signatureHeaders } from '../../../../src/webhooks/sending/signature.ts'
import {
  deriveSecret,
  secretBytes,
  signingSecrets,
} from '../../../../src/webhooks/sending/signing-secret.ts'

const k1 = { kid: 'k1', secret: Buffer.alloc(32, 1) }
const k2 = { kid: 'k2', secret: Buffer.alloc(32, 2) }

// The oracle compares the timestamp with the current time.
const now = Date.now()
const body = Buffer.from('{"id":"evt_1","data":{"name":"Conceição 🎉"}}')

type Signing = Pick<Endpoint, 'id' | 'secret' | 'previousSecret'>
const endpoint = (parts: Partial<Signing> = {}): Signing => ({
  id: 'we_1',
  secret: { kid: 'k1', generation: 1 },
  previousSecret: null,
  ...parts,
})
const rolled = endpoint({
  secret: { kid: 'k2', generation: 2 },
  previousSecret: { kid: 'k1', generation: 1, endsAt: now + 1 },
})

const message = { id: 'evt_1', sentAtMs: now, body }

describe('the secret of an endpoint', () => {
  it('the secret is 32 bytes with the prefix of Standard Webhooks', () => {
    const secret = deriveSecret([k1], 'we_1', { kid: 'k1', generation: 1 })
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(secretBytes(secret)).toHaveLength(32)
  })

  it('the secret stays the same when the entries are reordered and more are added', () => {
    const version = { kid: 'k1', generation: 1 }
    expect(deriveSecret([k2, k1], 'we_1', version)).toBe(deriveSecret([k1], 'we_1', version))
  })

  it('each endpoint, generation and entry has another secret', () => {
    const secrets = ['we_1', 'we_2', 'we_11'].flatMap((id) =>
      ['k1', 'k2'].flatMap((kid) =>
        [1, 2, 11].map((generation) => deriveSecret([k1, k2], id, { kid, generation })),
      ),
    )
    expect(new Set(secrets).size).toBe(secrets.length)
  })

  it('a missing entry is an error that names WEBHOOK_SECRETS and no secret', () => {
    const derive = () => deriveSecret([k2], 'we_1', { kid: 'k1', generation: 1 })
    expect(derive).toThrow(/^cannot sign webhooks of we_1: WEBHOOK_SECRETS has no entry "k1"/)
  })

  it('the previous secret signs until its end, and not at it', () => {
    const versions = (nowMs: number) => signingSecrets(rolled, nowMs).map(({ kid }) => kid)
    expect(versions(now)).toEqual(['k2', 'k1'])
    expect(versions(now + 1)).toEqual(['k2'])
  })
})

describe('the signature of a webhook', () => {
  it('the public package verifies the signature and the bytes of the body', () => {
    const headers = createSigner([k1])(endpoint(), message)
    const receiver = new Webhook(deriveSecret([k1], 'we_1', { kid: 'k1', generation: 1 }))
    expect(receiver.verify(body, headers)).toEqual(JSON.parse(body.toString()))
  })

  it.each([
    ['another body', Buffer.from('{}'), {}],
    ['another id', body, { 'webhook-id': 'evt_2' }],
    ['another timestamp', body, { 'webhook-timestamp': `${Math.floor(now / 1_000) - 1}` }],
  ])('the public package refuses the signature of %s', (_, received, changed) => {
    const headers = { ...createSigner([k1])(endpoint(), message), ...changed }
    const receiver = new Webhook(deriveSecret([k1], 'we_1', { kid: 'k1', generation: 1 }))
    expect(() => receiver.verify(received, headers)).toThrow('No matching signature')
  })

  it('during a roll, the receiver verifies with the new and with the old secret', () => {
    const headers = createSigner([k1, k2])(rolled, message)
    for (const version of signingSecrets(rolled, now)) {
      const receiver = new Webhook(deriveSecret([k1, k2], 'we_1', version))
      expect(receiver.verify(body, headers)).toMatchObject({ id: 'evt_1' })
    }
  })

  it('after a roll, the receiver no longer verifies with the old secret', () => {
    const headers = createSigner([k1, k2])(rolled, { ...message, sentAtMs: now + 1 })
    const receiver = new Webhook(deriveSecret([k1], 'we_1', { kid: 'k1', generation: 1 }))
    expect(() => receiver.verify(body, headers)).toThrow('No matching signature')
  })

  it('during a roll, a previous secret whose entry is lost does not stop the new one', () => {
    const headers = createSigner([k2])(rolled, message)
    expect(headers['webhook-signature']).not.toContain(' ')
    const receiver = new Webhook(deriveSecret([k2], 'we_1', rolled.secret))
    expect(receiver.verify(body, headers)).toMatchObject({ id: 'evt_1' })
  })

  it('a signer without the entry of the current secret signs nothing', () => {
    const sign = () => createSigner([k1])(rolled, message)
    expect(sign).toThrow('WEBHOOK_SECRETS has no entry "k2"')
  })

  it('a signer that used a secret before signs with the next generation after a roll', () => {
    const sign = createSigner([k1])
    sign(endpoint(), message)
    const headers = sign(endpoint({ secret: { kid: 'k1', generation: 2 } }), message)
    const receiver = new Webhook(deriveSecret([k1], 'we_1', { kid: 'k1', generation: 2 }))
    expect(receiver.verify(body, headers)).toMatchObject({ id: 'evt_1' })
  })

  it('the headers have the id, whole seconds, and one signature per key', () => {
    const keys = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
    const headers = signatureHeaders({ id: 'evt_1', sentAtMs: 1_999, body }, keys)
    expect(headers).toEqual({
      'webhook-id': 'evt_1',
      'webhook-timestamp': '1',
      'webhook-signature': expect.stringMatching(/^v1,[^ ,]{44} v1,[^ ,]{44}$/),
    })
  })
})
