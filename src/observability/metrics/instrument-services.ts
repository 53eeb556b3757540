import { monotonicClock } from '../../lib/clock.ts'
import type { Instrument } from '../../lib/instrument.ts'
import { ClientDisconnected } from '../../lib/request-scope.ts'
import type { ServiceEvents } from '../../services.ts'
import type { Outcome, ServiceMetrics } from './services.ts'

/** Records the events of the services as metrics. */
export function instrumentServices(metrics: ServiceMetrics): ServiceEvents {
  const { opensearchSeconds, redisSeconds, limiterDecisions } = metrics
  return {
    instrumentOpenSearch: timed((operation, outcome, seconds) =>
      opensearchSeconds.observe({ operation, outcome }, seconds),
    ),
    instrumentCounters: timed((decision, outcome, seconds) =>
      redisSeconds.observe({ decision, outcome }, seconds),
    ),
    onDecision: (decision, isAllowed) =>
      limiterDecisions.inc({ decision, result: isAllowed ? 'allowed' : 'denied' }),
    onFallbackDecision: (decision) => metrics.fallbackDecisions.inc({ decision }),
    onDecode: (reading) => metrics.decodePaths.inc({ reading }),
    onKeyLookup: (result) => metrics.keyLookups.inc({ result }),
  }
}

function timed<Operation extends string>(
  record: (operation: Operation, outcome: Outcome, seconds: number) => void,
): Instrument<Operation> {
  return async (operation, call) => {
    const startedAt = monotonicClock()
    let outcome: Outcome = 'failed'
    try {
      const result = await call()
      outcome = 'ok'
      return result
    } catch (error) {
      if (error instanceof ClientDisconnected) outcome = 'abandoned'
      throw error
    } finally {
      record(operation, outcome, (monotonicClock() - startedAt) / 1000)
    }
  }
}
