import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import type { Clock } from '../../lib/clock.ts'
import { REPLACEMENT, replaceControls } from '../../lib/text/control-characters.ts'
import {
  describeFailure,
  describeStatus,
  describeTimeout,
  type FailureLimits,
  INVALID_HTTP,
} from './send-failure.ts'
import type { SendResult } from './sender.ts'

/** Of a response body, this much is read at most, and this much kept. */
const MAX_RESPONSE_BYTES = 16 * 1_024
const EXCERPT_BYTES = 512
/** Each may have full headers. A receiver that never stops would take a whole processor. */
const MAX_INFORMATIONAL = 200
/** The status decides, so a body that takes longer only occupies a connection. */
const MAX_BODY_MS = 1_000

export interface SendContext {
  limits: FailureLimits
  /** Epoch milliseconds, for dates in `Retry-After`. */
  clock: Clock
  /** Milliseconds, for the duration. */
  monotonic: Clock
}

/**
 * Receives the response to one request, and calls `settle` exactly once. That is at the end of the
 * body, at its limit of size or time, at an error, or at the deadline.
 */
export class SendAttempt implements Dispatcher.DispatchHandler {
  readonly #context: SendContext
  readonly #settle: (result: SendResult) => void
  readonly #startedAt: number
  #timer: NodeJS.Timeout
  #controller: Dispatcher.DispatchController | undefined
  #isSettled: boolean = false
  #status: number | null = null
  #retryAfterMs: number | null = null
  #isEncoded: boolean = false
  #excerpt: Buffer[] = []
  #bodyBytes = 0
  #informational = 0

  constructor(context: SendContext, settle: (result: SendResult) => void) {
    this.#context = context
    this.#settle = settle
    this.#startedAt = context.monotonic()
    this.#timer = setTimeout(() => {
      this.#stop(describeTimeout(context.limits))
    }, context.limits.timeoutMs)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The deadline may pass while the request waits for a connection.
    if (this.#isSettled) controller.abort(STOPPED)
    else this.#controller = controller
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200) {
      // The response follows.
      this.#informational += 1
      if (this.#informational > MAX_INFORMATIONAL) this.#stop(INVALID_HTTP)
      return
    }
    this.#status = status
    this.#isEncoded = (headers['content-encoding'] ?? 'identity') !== 'identity'
    const retryAfter = headers['retry-after']
    if (retryAfter !== undefined) {
      this.#retryAfterMs = parseRetryAfter(retryAfter, this.#context.clock())
    }
    // Most responses end in the same tick, and need no second timer.
    queueMicrotask(() => this.#limitBodyTime())
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#bodyBytes < EXCERPT_BYTES) {
      this.#excerpt.push(chunk.subarray(0, EXCERPT_BYTES - this.#bodyBytes))
    }
    this.#bodyBytes += chunk.length
    if (this.#bodyBytes > MAX_RESPONSE_BYTES) this.#stop(null)
  }

  onResponseEnd(): void {
    this.#finish(null)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error)
  }

  /** Ends an attempt that has no response, or an incomplete one. */
  fail(error: Error): void {
    this.#finish(describeFailure(error, this.#context.limits))
  }

  #limitBodyTime(): void {
    if (this.#isSettled) return
    const { limits, monotonic } = this.#context
    const remainingMs = this.#startedAt + limits.timeoutMs - monotonic()
    clearTimeout(this.#timer)
    this.#timer = setTimeout(
      () => this.#stop(null),
      Math.max(0, Math.min(remainingMs, MAX_BODY_MS)),
    )
  }

  #stop(failure: string | null): void {
    this.#finish(failure)
    this.#controller?.abort(STOPPED)
  }

  /** A failure after the headers does not count. */
  #finish(failure: string | null): void {
    if (this.#isSettled) return
    this.#isSettled = true
    clearTimeout(this.#timer)
    this.#settle({
      status: this.#status,
      error: this.#status === null ? failure : describeStatus(this.#status),
      retryAfterMs: this.#retryAfterMs,
      durationMs: this.#context.monotonic() - this.#startedAt,
      excerpt: this.#excerptText(),
    })
  }

  /** A compressed body is never inflated, so it has no text. */
  #excerptText(): string | null {
    if (this.#isEncoded || this.#bodyBytes === 0) return null
    const text = replaceControls(Buffer.concat(this.#excerpt).toString())
    // The last character may be incomplete.
    const isCut = this.#bodyBytes > EXCERPT_BYTES && text.endsWith(REPLACEMENT)
    return isCut ? text.slice(0, -REPLACEMENT.length) : text
  }
}

const STOPPED = new Error('the attempt is over')

/** Such as `Tue, 29 Oct 2024 16:56:32 GMT`; `Date.parse` alone accepts nearly anything. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/**
 * The delay that `Retry-After` requests, in milliseconds from `nowMs` (epoch), not capped; `null`
 * unless it is a number of seconds or an HTTP date. A past date is 0.
 */
function parseRetryAfter(value: string | string[], nowMs: number): number | null {
  const text = String(value).trim()
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000
  const date = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs)
}
