import type { EventType } from '../events/event-types.ts'

/** `full` sends the order, `thin` its id only. */
export const payloadKinds = ['full', 'thin'] as const
export type PayloadKind = (typeof payloadKinds)[number]

/** `failing`: 72 hours without a success. `gone`: the receiver returned 410. */
export type DisabledReason = 'manual' | 'failing' | 'gone'

/** Which derived secret signs: see `signing-secret.ts`. */
export interface SecretVersion {
  /** The entry of `WEBHOOK_SECRETS`. */
  kid: string
  generation: number
}

/** A request that may be repeated, such as one with an `Idempotency-Key`. */
export interface RepeatableRequest {
  /** The same for its repetitions. */
  id: string
  /** Epoch milliseconds: what an equal request made earlier is not its own. */
  sinceMs: number
}

/** A URL of an account that receives its events. All instants are epoch milliseconds. */
export interface Endpoint {
  /** `we_` and 32 hexadecimal digits. */
  id: string
  accountId: string
  url: string
  /** `null`: every type, also those added later. */
  events: readonly EventType[] | null
  payload: PayloadKind
  description: string | null
  /** `null`: enabled. */
  disabledReason: DisabledReason | null
  createdAt: number
  /** Every event recorded from then on is delivered. */
  startsAt: number
  /** `rolledBy`: the request that made it, and when. */
  secret: SecretVersion & { rolledBy?: { id: string; at: number } }
  /** Signs too, until the overlap of a roll ends. */
  previousSecret: (SecretVersion & { endsAt: number }) | null
  /** The first failure since the last success. */
  failingSince: number | null
  /** Of the last success, written at most once an hour. */
  lastSuccessAt: number | null
  /** Whether the circuit breaker is open; survives a restart of the dispatcher. */
  isBreakerOpen: boolean
  /** How many notices of the current failure were sent: after 1 h, after 24 h, when disabled. */
  noticesSent: number
  /** A deleted endpoint stays as a marker until the dispatcher has canceled its deliveries. */
  deletedAt: number | null
}
