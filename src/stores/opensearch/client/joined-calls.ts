import { Unavailable } from '../../../lib/errors/unavailable.ts'
import {
  ClientDisconnected,
  callTimeoutMs,
  type RequestScope,
  unbounded,
} from '../../../lib/request-scope.ts'

export interface JoinedCallsOptions<Call, Result> {
  /** The most calls that share a request, so that one slow response delays few. */
  maxCalls: number
  /** For each request, the response body included; the scope of a call may shorten it. */
  deadlineMs: number
  /** Sends one request for these calls: the result of each, or its error, in their order. */
  send(calls: readonly Call[], scope: RequestScope): Promise<readonly (Result | Error)[]>
}

interface PendingCall<Call, Result> {
  call: Call
  scope: RequestScope
  timeoutMs: number
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * Returns a function that joins the calls of one turn of the event loop, because one request for
 * several calls costs much less CPU time. A turn that waits for nothing else ends at once, so none
 * is delayed. Each call ends at its own timeout, or when its client disconnects. The request ends
 * at the latest timeout, or when all clients have disconnected.
 */
export function joinCalls<Call, Result>({
  maxCalls,
  deadlineMs,
  send,
}: JoinedCallsOptions<Call, Result>): (call: Call, scope: RequestScope) => Promise<Result> {
  let pending: PendingCall<Call, Result>[] = []

  function sendPending(): void {
    const calls = pending
    pending = []
    for (let at = 0; at < calls.length; at += maxCalls) void start(calls.slice(at, at + maxCalls))
  }

  async function start(calls: readonly PendingCall<Call, Result>[]): Promise<void> {
    const { scope, end } = shareScope(calls)
    const sent = calls.map(({ call }) => call)
    try {
      const results = await send(sent, scope)
      for (const [at, { resolve, reject }] of calls.entries()) {
        const result = results[at]
        if (result === undefined) reject(new Error('a joined call has no result'))
        else if (result instanceof Error) reject(result)
        else resolve(result)
      }
    } catch (error) {
      for (const { reject } of calls) reject(error)
    } finally {
      end()
    }
  }

  return async (call, scope) => {
    const timeoutMs = callTimeoutMs(scope, deadlineMs)
    return new Promise((resolve, reject) => {
      const added = { call, scope, timeoutMs, resolve, reject }
      if (pending.push(added) === 1) setImmediate(sendPending)
    })
  }
}

/** The scope of a request for several calls; `end` ends the bounds of the calls. */
function shareScope<Call, Result>(
  calls: readonly PendingCall<Call, Result>[],
): { scope: RequestScope; end(): void } {
  const latestMs = Math.max(...calls.map(({ timeoutMs }) => timeoutMs))
  let waiting = calls.length
  let stop = (): void => {}

  const timers = calls
    .filter(({ timeoutMs }) => timeoutMs < latestMs)
    .map(({ timeoutMs, reject }) => setTimeout(() => reject(timedOut(timeoutMs)), timeoutMs))
  const unregister = calls.map(({ scope, reject }) =>
    scope.onDisconnect(() => {
      reject(new ClientDisconnected())
      waiting -= 1
      if (waiting === 0) stop()
    }),
  )

  return {
    scope: {
      ...unbounded,
      remainingMs: () => latestMs,
      onDisconnect(stopAll) {
        if (waiting === 0) stopAll()
        stop = stopAll
        return () => {}
      },
    },
    end() {
      timers.forEach(clearTimeout)
      for (const forget of unregister) forget()
    },
  }
}

function timedOut(timeoutMs: number): Unavailable {
  return new Unavailable(`no response from OPENSEARCH_URL in ${timeoutMs} ms`)
}
