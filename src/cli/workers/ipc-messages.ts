import type { Health } from '../../http/operations/readiness.ts'
import type { MetricSnapshot } from '../../observability/metrics/aggregated-metrics.ts'

/** What the primary asks of a worker, and what it is answered. */
export interface IpcResponses {
  /** Its event loop turns. */
  ping: true
  health: Health
  metrics: MetricSnapshot[]
}

export type IpcRequest = keyof IpcResponses

export type ToWorker = { type: 'ask'; id: number; question: IpcRequest } | { type: 'leave' }

export type ToPrimary =
  /** `address`: its URL, the same for all. */
  | { type: 'serving'; address: string }
  /** It cannot serve, and ends. */
  | { type: 'failed'; reason: string }
  | { type: 'answer'; id: number; response: IpcResponses[IpcRequest] }
