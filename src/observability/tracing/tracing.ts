import type { Instrument } from '../../lib/instrument.ts'

/** Spans of requests and of what they call: names, statuses and times, nothing of what a caller sent. */
export interface Tracing {
  startRequest(request: TracedRequest): RequestSpan
  /** Makes a span of every call that a traced request makes. */
  instrument(system: 'opensearch' | 'redis'): Instrument<string>
  /** Sends what is left, within two seconds; never fails. */
  close(): Promise<void>
}

export interface TracedRequest {
  method: string
  /** The pattern of the route; `undefined` where there is none. */
  route: string | undefined
  requestId: string
  /** The header, by which the request belongs to a trace that began elsewhere. */
  traceparent: string | undefined
}

export interface RequestSpan {
  /** Calls made in `work`, and in whatever follows from it, belong to this request. */
  run(work: () => void): void
  /** `undefined`: the caller went away before there was an answer. */
  end(status: number | undefined): void
}

/** Told of a collector that takes no traces, and when it takes them again. */
export interface TracingEvents {
  onOutage(reason: string): void
  onRecovered(): void
}
