import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import type { NamedSecret, NamedSecrets } from '../../../../../src/lib/secrets/named-secret.ts'
import type { Notice } from '../../../../../src/webhooks/dispatcher/dispatcher-events.ts'
import {
  createSendNotice,
  OPERATOR,
  operatorSigners,
} from '../../../../../src/webhooks/dispatcher/health/operator-notices.ts'
import type { OutgoingRequest } from '../../../../../src/webhooks/sending/sender.ts'
import { createSigner } from '../../../../../src/webhooks/sending/signature.ts'
import { deriveSecret } from '../../../../../src/webhooks/sending/signing-secret.ts'

const NEW: NamedSecret = { kid: 'new', secret: Buffer.alloc(32, 1) }
const OLD: NamedSecret = { kid: 'old', secret: Buffer.alloc(32, 2) }

const notice: Notice = {
  kind: 'disabled',
  endpointId: 'we_1',
  accountId: 'acc_1',
  failingSince: Date.parse('2026-03-01T12:00:00Z'),
  disabledReason: 'failing',
}

/** The request of a notice that these entries of `WEBHOOK_SECRETS` sign. */
async function send(...secrets: NamedSecrets): Promise<OutgoingRequest> {
  const requests: OutgoingRequest[] = []
  const sendNotice = createSendNotice({
    url: 'https://ops.example/hooks',
    sender: {
      async send(request) {
        requests.push(request)
        return { status: 204, error: null, retryAfterMs: null, durationMs: 1, excerpt: null }
      },
    },
    sign: createSigner(secrets),
    signers: operatorSigners(secrets),
    clock: Date.now,
    version: '1.2.3',
  })
  expect(await sendNotice(notice, new AbortController().signal)).toBeNull()
  const [request] = requests
  if (request === undefined) throw new Error('no notice was sent')
  return request
}

/** The secret that `webhooks operator-secret` prints for these entries. */
const secretOf = (...secrets: NamedSecrets) =>
  deriveSecret(secrets, OPERATOR, operatorSigners(secrets).secret)

function verify({ body, headers }: OutgoingRequest, secret: string): unknown {
  return new Webhook(secret).verify(Buffer.from(body).toString(), { ...headers })
}

describe('a notice to the operator', () => {
  it('verifies with the secret that the command prints', async () => {
    expect(verify(await send(NEW), secretOf(NEW))).toMatchObject({
      type: 'endpoint.disabled',
      endpoint_id: 'we_1',
      account_id: 'acc_1',
      failing_since: '2026-03-01T12:00:00.000Z',
      disabled_reason: 'failing',
    })
  })

  it('verifies with the earlier secret while the entries are rotated', async () => {
    const request = await send(NEW, OLD)
    expect(verify(request, secretOf(OLD))).toEqual(verify(request, secretOf(NEW)))
  })

  it('verifies with no secret of an endpoint', async () => {
    const secret = deriveSecret([NEW], 'we_1', { kid: 'new', generation: 1 })
    const request = await send(NEW)
    expect(() => verify(request, secret)).toThrow('No matching signature')
  })
})
