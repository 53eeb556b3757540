import { monotonicClock } from '../lib/clock.ts'
import type { Observe } from '../lib/observe.ts'
import { CallerGone } from '../lib/request-scope.ts'
import type { ServiceEvents } from '../services.ts'
import type { Outcome, ServiceMetrics } from './services.ts'

/** Counts what the services tell. */
export function countServices(metrics: ServiceMetrics): ServiceEvents {
  const { opensearchSeconds, redisSeconds, limiterDecisions } = metrics
  return {
    observeOpenSearch: timed((operation, outcome, seconds) =>
      opensearchSeconds.observe({ operation, outcome }, seconds),
    ),
    observeRedis: timed((decision, outcome, seconds) =>
      redisSeconds.observe({ decision, outcome }, seconds),
    ),
    onDecision: (decision, isAllowed) =>
      limiterDecisions.inc({ decision, result: isAllowed ? 'allowed' : 'denied' }),
    onDegradedDecision: (decision) => metrics.degradedDecisions.inc({ decision }),
    onReading: (reading) => metrics.readings.inc({ reading }),
    onKeyLookUp: (result) => metrics.keyLookUps.inc({ result }),
  }
}

function timed<Operation extends string>(
  tell: (operation: Operation, outcome: Outcome, seconds: number) => void,
): Observe<Operation> {
  return async (operation, call) => {
    const startedAt = monotonicClock()
    let outcome: Outcome = 'failed'
    try {
      const answer = await call()
      outcome = 'ok'
      return answer
    } catch (error) {
      if (error instanceof CallerGone) outcome = 'abandoned'
      throw error
    } finally {
      tell(operation, outcome, (monotonicClock() - startedAt) / 1000)
    }
  }
}
