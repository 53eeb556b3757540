import { isHealthy } from '../../test/harness/traffic/check-response.ts'
import { startOpenLoop } from '../../test/harness/traffic/open-loop.ts'
import type { TrafficRequest } from '../../test/harness/traffic/request.ts'
import {
  createResponseStats,
  type ResponseStats,
} from '../../test/harness/traffic/response-stats.ts'
import type { Sender } from '../../test/harness/traffic/sender.ts'
import type { Traffic } from '../../test/harness/traffic/traffic.ts'

/** Requests that keep arriving, each counted in the phase in which it was sent, or met by a fault. */
export interface Arrivals {
  enter(plan: PhasePlan): Phase
  /** Sends one more at once. */
  send(ask: TrafficRequest): void
  /** What is sent at present. */
  phase(): Phase
  /** Sends no more, and waits until all was answered. */
  stop(): Promise<void>
}

export interface PhasePlan {
  tally: ResponseStats
  isFault: boolean
  /** OpenSearch is in trouble, or just was. */
  mayFail: boolean
}

/** A while of the arrivals. */
export interface Phase {
  /** From its start until the last request was sent that was not answered as in health, in milliseconds. */
  rightAfterMs(): number
  /** Whether all that was sent up to so long ago was answered, and nothing since but as in health. */
  isRight(forMs: number): boolean
}

interface CurrentPhase extends PhasePlan, Phase {
  send(ask: TrafficRequest): Promise<void>
}

/** What is sent before the first phase counts nowhere. */
export function startArrivals(rate: number, traffic: Traffic, sender: Sender): Arrivals {
  const underWay = new Set<Promise<void>>()
  let current = begin({ tally: createResponseStats(), isFault: false, mayFail: true })

  function begin(plan: PhasePlan): CurrentPhase {
    const startedAt = performance.now()
    const waiting = new Set<{ sentAt: number }>()
    let lastWrongAt = startedAt
    return {
      ...plan,
      async send(ask) {
        const sent = { sentAt: performance.now() }
        waiting.add(sent)
        const outcome = await sender.send(ask)
        waiting.delete(sent)
        const { tally } = current.isFault && !plan.isFault ? current : plan
        tally.add(ask, outcome, plan.mayFail || current.mayFail)
        if (!isHealthy(ask, outcome)) lastWrongAt = Math.max(lastWrongAt, sent.sentAt)
        ask.onSettled?.()
      },
      rightAfterMs: () => lastWrongAt - startedAt,
      isRight(forMs) {
        const since = performance.now() - forMs
        return lastWrongAt <= since && [...waiting].every(({ sentAt }) => sentAt > since)
      },
    }
  }

  function send(ask: TrafficRequest): void {
    const sent = current.send(ask).finally(() => underWay.delete(sent))
    underWay.add(sent)
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
      await Promise.all(underWay)
    },
  }
}
