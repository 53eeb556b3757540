import { expect, it } from 'vitest'
import { aggregateHealth } from '../../../../../src/cli/serve/workers/aggregate-health.ts'
import type { CheckState, Health } from '../../../../../src/http/operations/readiness.ts'

function health(orders: CheckState, limits: CheckState = 'ok'): Health {
  return { status: orders === 'ok' ? 'ok' : 'unavailable', checks: { orders, limits } }
}

it('the service is ready when all workers are ready', () => {
  expect(aggregateHealth(2, [health('ok'), health('ok')])).toEqual({
    status: 'ok',
    checks: { workers: 'ok', orders: 'ok', limits: 'ok' },
  })
})

it('the service is ready and degraded with one of several workers', () => {
  expect(aggregateHealth(2, [health('ok')])).toEqual({
    status: 'ok',
    checks: { workers: 'degraded', orders: 'ok', limits: 'ok' },
  })
})

it('the service is not ready without a worker', () => {
  expect(aggregateHealth(2, [])).toEqual({
    status: 'unavailable',
    checks: { workers: 'unavailable' },
  })
})

it('the service is not ready when no worker is, and reports the failing checks', () => {
  expect(aggregateHealth(2, [health('unavailable'), health('unavailable')])).toEqual({
    status: 'unavailable',
    checks: { workers: 'ok', orders: 'unavailable', limits: 'ok' },
  })
})

it('the service is ready when one worker is, and reports checks that fail on another', () => {
  expect(aggregateHealth(2, [health('unavailable'), health('ok', 'degraded')])).toEqual({
    status: 'ok',
    checks: { workers: 'ok', orders: 'degraded', limits: 'degraded' },
  })
})
