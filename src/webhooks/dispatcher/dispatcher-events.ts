import type { DisabledReason } from '../endpoints/endpoint.ts'
import type { DeliveredType } from '../events/event-types.ts'
import type { SendResult } from '../sending/sender.ts'

export interface AttemptReport {
  deliveryId: string
  endpointId: string
  accountId: string
  eventId: string
  type: DeliveredType
  /** Counts the attempts of the delivery, from 1. */
  attempt: number
  /** When the event was recorded, and when the attempt started and ended; epoch milliseconds. */
  recordedAt: number
  startedAt: number
  endedAt: number
  status: SendResult['status']
  error: SendResult['error']
  /** `retrying`: another attempt follows. `canceled`: its order is missing. */
  outcome: AttemptOutcome
  isProbe: boolean
}

export const attemptOutcomes = ['delivered', 'retrying', 'failed', 'expired', 'canceled'] as const
export type AttemptOutcome = (typeof attemptOutcomes)[number]

/** What the operator should know about an endpoint that fails, in the order of `noticesSent`. */
export const noticeKinds = ['failing_1h', 'failing_24h', 'disabled'] as const
export type NoticeKind = (typeof noticeKinds)[number]

export interface Notice {
  kind: NoticeKind
  endpointId: string
  accountId: string
  /** Epoch milliseconds; `null` when the first response of the endpoint was 410. */
  failingSince: number | null
  disabledReason: DisabledReason | null
}

/** For the log, metrics and traces. No call may throw. */
export interface DispatcherEvents {
  /** Called once per outage, when a store first fails. */
  onOutage(reason: string): void
  onRecovered(): void
  /** Called with the reason why a standby waits. */
  onStandby(reason: string): void
  /** This process became the dispatcher, or stopped being it. */
  onDispatcher(isDispatcher: boolean): void
  /** Another process took over, or the lease expired while the store did not respond. */
  onLeaseLost(): void
  /** Called after each response, before its result is stored. */
  onAttempt(report: AttemptReport): void
  onBreaker(endpointId: string, isOpen: boolean): void
  onNotice(notice: Notice): void
  /** `OPERATOR_WEBHOOK_URL` did not accept a notice. */
  onNoticeFailed(notice: Notice, reason: string): void
}
