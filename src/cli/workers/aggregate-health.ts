import type { CheckState, Health } from '../../http/operations/readiness.ts'

/**
 * How `size` workers are together, of which these have told how they are. Whoever sends requests here is
 * answered as long as one of them can: fewer than there should be are a warning, and so is what holds for some only.
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

/** `degraded` wherever they do not agree. */
function aggregateState(states: readonly CheckState[]): CheckState {
  const [first = 'degraded', ...others] = new Set(states)
  return others.length === 0 ? first : 'degraded'
}
