/** `unknown`: the process ended before the outcome was recorded, or the store did not respond. */
export const auditOutcomes = ['done', 'failed', 'unknown'] as const
export type AuditOutcome = (typeof auditOutcomes)[number]

/** The origin of a change: a token, a session of the console, or a command. */
export interface Actor {
  /** `token:NAME`, `console:SUBJECT` or `cli`. */
  name: string
  /** The request, `null` for a command. */
  requestId: string | null
}

/** The actor of every command on this machine. */
export const CLI_ACTOR: Actor = { name: 'cli', requestId: null }

export const auditActions = [
  'key.create',
  'key.roll',
  'key.revoke',
  'account.block',
  'account.unblock',
  'session.create',
  'session.end',
  'webhook_endpoint.create',
  'webhook_endpoint.update',
  'webhook_endpoint.enable',
  'webhook_endpoint.disable',
  'webhook_endpoint.delete',
  'webhook_endpoint.roll_secret',
  'webhook_endpoint.test',
  'webhook_endpoint.replay',
  'delivery.resend',
  'sandbox_order.create',
  'sandbox_order.change',
] as const
export type AuditAction = (typeof auditActions)[number]

/** What is about to change. */
export interface AuditIntent {
  action: AuditAction
  /** The live account that it concerns. Earlier entries of a test endpoint have its sandbox. */
  accountId: string
  /** The id of what changes; never a secret. */
  target: string
  /** The id of the key that `key.roll` creates. */
  successor?: string
}

/** One change, with its outcome. */
export interface AuditEntry extends AuditIntent {
  /** `aud_` and 32 hexadecimal digits. */
  id: string
  /** Epoch milliseconds. */
  at: number
  actor: string
  requestId: string | null
  outcome: AuditOutcome
}
