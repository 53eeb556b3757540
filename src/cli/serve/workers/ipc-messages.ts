import type { Health } from '../../../http/operations/readiness.ts'
import type { MetricSnapshot } from '../../../observability/metrics/aggregated-metrics.ts'

/** The requests of the primary to a worker, with their responses. */
export interface IpcResponses {
  /** The event loop of the worker runs. */
  ping: true
  health: Health
  metrics: MetricSnapshot[]
}

export type IpcRequest = keyof IpcResponses

export type ToWorker = { type: 'request'; id: number; request: IpcRequest } | { type: 'shutdown' }

export type ToPrimary =
  /** `address`: the URL, the same for all workers. */
  | { type: 'serving'; address: string }
  /** The worker cannot serve, and exits. */
  | { type: 'failed'; reason: string }
  | { type: 'response'; id: number; response: IpcResponses[IpcRequest] }
