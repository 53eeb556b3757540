import { DomainError, type DomainErrorKind } from '../../lib/errors/domain-error.ts'

/** Every error of the management of webhooks. */
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
  too_many_endpoints: 'conflict',
  endpoint_deleted: 'conflict',
  endpoint_disabled: 'conflict',
  order_removed: 'conflict',
  delivery_busy: 'conflict',
  secrets_missing: 'conflict',
} as const satisfies Record<string, DomainErrorKind>

export type WebhookErrorCode = keyof typeof kinds

/** A rejected call of the management of endpoints and deliveries. */
export class WebhookError extends DomainError<WebhookErrorCode> {
  constructor(code: WebhookErrorCode, message: string) {
    super(code, kinds[code], message)
  }
}
