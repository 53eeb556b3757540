import { DomainError, type DomainErrorKind } from '../lib/errors/domain-error.ts'

/** Every error of the management of keys, accounts, sessions and sandboxes. */
const kinds = {
  invalid_account: 'invalid',
  invalid_name: 'invalid',
  invalid_scopes: 'invalid',
  invalid_expiry: 'invalid',
  invalid_overlap: 'invalid',
  invalid_subject: 'invalid',
  invalid_capabilities: 'invalid',
  invalid_ttl: 'invalid',
  invalid_list: 'invalid',
  too_many_lines: 'invalid',
  account_blocked: 'conflict',
  too_many_keys: 'conflict',
  key_missing: 'not_found',
  key_inactive: 'conflict',
  invalid_scenario: 'invalid',
  sandbox_full: 'conflict',
  sandbox_order_missing: 'not_found',
  impossible_move: 'conflict',
} as const satisfies Record<string, DomainErrorKind>

export type ManagementErrorCode = keyof typeof kinds

/** A rejected call of the management of keys, accounts, sessions and sandboxes. */
export class ManagementError extends DomainError<ManagementErrorCode> {
  constructor(code: ManagementErrorCode, message: string) {
    super(code, kinds[code], message)
  }
}

export function isManagementErrorCode(code: string): code is ManagementErrorCode {
  return code in kinds
}
