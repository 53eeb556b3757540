import type { Instrument } from '../../lib/instrument.ts'

/** Spans of requests and of their calls to services: names, statuses and times, no client input. */
export interface Tracing {
  startRequest(request: TracedRequest): RequestSpan
  /** Creates a span for every call within a traced request. */
  instrument(system: 'opensearch' | 'redis'): Instrument<string>
  /** Records a finished attempt to deliver a webhook as a trace of its own. */
  recordAttempt(attempt: TracedAttempt): void
  /** Exports the remaining spans within two seconds; never fails. */
  close(): Promise<void>
}

export interface TracedRequest {
  method: string
  /** The route pattern; `undefined` for an unknown route. */
  route: string | undefined
  requestId: string
  /** The W3C header that links the request to the trace of the client. */
  traceparent: string | undefined
}

export interface TracedAttempt {
  eventId: string
  type: string
  /** Counts the attempts of the delivery, from 1. */
  attempt: number
  /** Epoch milliseconds. */
  startedAt: number
  endedAt: number
  /** `null` without a response. */
  status: number | null
}

export interface RequestSpan {
  /** Attributes all calls in `work`, including asynchronous ones, to this request. */
  run(work: () => void): void
  /** `undefined`: the client disconnected before a response. */
  end(status: number | undefined): void
}

/** Reports the start and the end of an outage of trace export. */
export interface TracingEvents {
  onOutage(reason: string): void
  onRecovered(): void
}
