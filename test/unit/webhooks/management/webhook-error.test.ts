import { expect, it } from 'vitest'
import { WebhookError } from '../../../../src/webhooks/management/webhook-error.ts'

it.each([
  ['invalid_url', 'invalid'],
  ['endpoint_missing', 'not_found'],
  ['endpoint_disabled', 'conflict'],
] as const)('a WebhookError with the code %s has the kind %s', (code, kind) => {
  expect(new WebhookError(code, 'a sentence')).toMatchObject({
    code,
    kind,
    message: 'a sentence',
    name: 'WebhookError',
  })
})
