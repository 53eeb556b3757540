import { ExpectedError } from '../../lib/expected-error.ts'

/** `invalid`: the input; `not_found`: an id; `conflict`: the state of what the id names. */
export type WebhookErrorKind = 'invalid' | 'not_found' | 'conflict'

/** Every refusal of the management of webhooks. */
const kinds = {
  invalid_url: 'invalid',
  invalid_events: 'invalid',
  invalid_payload: 'invalid',
  invalid_description: 'invalid',
  invalid_overlap: 'invalid',
  invalid_limit: 'invalid',
  invalid_since: 'invalid',
  endpoint_missing: 'not_found',
  delivery_missing: 'not_found',
  endpoint_deleted: 'conflict',
  endpoint_disabled: 'conflict',
  order_removed: 'conflict',
  delivery_busy: 'conflict',
} as const satisfies Record<string, WebhookErrorKind>

export type WebhookErrorCode = keyof typeof kinds

/** A refused operation. The message is a sentence for an operator, and ends with the next step. */
export class WebhookError extends ExpectedError {
  readonly code: WebhookErrorCode

  constructor(code: WebhookErrorCode, message: string) {
    super(message)
    this.name = 'WebhookError'
    this.code = code
  }

  get kind(): WebhookErrorKind {
    return kinds[this.code]
  }
}
