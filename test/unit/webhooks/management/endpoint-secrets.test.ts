import { expect, it } from 'vitest'
import { requireWebhookSecrets } from '../../../../src/webhooks/management/endpoint-secrets.ts'

const given = { kid: 'given', secret: Buffer.alloc(32, 1) }

it('the secrets of webhooks that are missing are named, with a command that makes them', () => {
  expect(() => requireWebhookSecrets(null)).toThrow(/^WEBHOOK_SECRETS is not set.*openssl rand /)
  expect(requireWebhookSecrets([given])).toEqual([given])
})
