import type { CheckState, Health } from '../../../http/operations/readiness.ts'

/**
 * Combines the health that some of `size` workers report. The service is ready while one worker is.
 * Missing workers and checks that fail on only some workers degrade it.
 */
export function aggregateHealth(size: number, healths: readonly Health[]): Health {
  const names = new Set(healths.flatMap(({ checks }) => Object.keys(checks)))
  const checks = [...names].map((name) => {
    return [name, aggregateState(healths.map((health) => health.checks[name] ?? 'degraded'))]
  })
  return {
    status: healths.some(({ status }) => status === 'ok') ? 'ok' : 'unavailable',
    checks: { workers: workersState(size, healths.length), ...Object.fromEntries(checks) },
  }
}

function workersState(size: number, count: number): CheckState {
  if (count === 0) return 'unavailable'
  return count < size ? 'degraded' : 'ok'
}

/** `degraded` when the workers disagree. */
function aggregateState(states: readonly CheckState[]): CheckState {
  const [first = 'degraded', ...others] = new Set(states)
  return others.length === 0 ? first : 'degraded'
}
