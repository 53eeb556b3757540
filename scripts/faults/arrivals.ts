import { isHealthy } from '../../test/harness/traffic/check-response.ts'
import { startOpenLoop } from '../../test/harness/traffic/open-loop.ts'
import type { TrafficRequest } from '../../test/harness/traffic/request.ts'
import {
  createResponseStats,
  type ResponseStats,
} from '../../test/harness/traffic/response-stats.ts'
import type { Sender } from '../../test/harness/traffic/sender.ts'
import type { Traffic } from '../../test/harness/traffic/traffic.ts'

/** Continuous requests. Each counts in the phase that sent it, or in the fault that affected it. */
export interface Arrivals {
  enter(plan: PhasePlan): Phase
  /** Sends one more immediately. */
  send(request: TrafficRequest): void
  phase(): Phase
  /** Stops sending, and waits for all responses. */
  stop(): Promise<void>
}

export interface PhasePlan {
  stats: ResponseStats
  isFault: boolean
  /** Whether OpenSearch has a fault, or had one recently. */
  mayFail: boolean
}

export interface Phase {
  /** Milliseconds from its start until it sent the last request without a healthy response. */
  rightAfterMs(): number
  /** Whether all earlier requests have a response, and all responses since then were healthy. */
  isRight(forMs: number): boolean
}

interface CurrentPhase extends PhasePlan, Phase {
  send(request: TrafficRequest): Promise<void>
}

/** Requests before the first phase do not count. */
export function startArrivals(rate: number, traffic: Traffic, sender: Sender): Arrivals {
  const inFlight = new Set<Promise<void>>()
  let current = begin({ stats: createResponseStats(), isFault: false, mayFail: true })

  function begin(plan: PhasePlan): CurrentPhase {
    const startedAt = performance.now()
    const waiting = new Set<{ sentAt: number }>()
    let lastWrongAt = startedAt
    return {
      ...plan,
      async send(request) {
        const sent = { sentAt: performance.now() }
        waiting.add(sent)
        const outcome = await sender.send(request)
        waiting.delete(sent)
        const { stats } = current.isFault && !plan.isFault ? current : plan
        stats.add(request, outcome, plan.mayFail || current.mayFail)
        if (!isHealthy(request, outcome)) lastWrongAt = Math.max(lastWrongAt, sent.sentAt)
        request.onSettled?.()
      },
      rightAfterMs: () => lastWrongAt - startedAt,
      isRight(forMs) {
        const since = performance.now() - forMs
        return lastWrongAt <= since && [...waiting].every(({ sentAt }) => sentAt > since)
      },
    }
  }

  function send(request: TrafficRequest): void {
    const sent = current.send(request).finally(() => inFlight.delete(sent))
    inFlight.add(sent)
  }

  const stopPace = startOpenLoop(rate, () => send(traffic.next()))

  return {
    enter(plan) {
      current = begin(plan)
      return current
    },
    send,
    phase: () => current,
    async stop() {
      stopPace()
      await Promise.all(inFlight)
    },
  }
}
