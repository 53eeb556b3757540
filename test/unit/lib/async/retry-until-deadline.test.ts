import { expect, it, vi } from 'vitest'
import {
  createRetryBudget,
  type RetryPolicy,
  retryUntilDeadline,
} from '../../../../src/lib/async/retry-until-deadline.ts'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'

const policy = (changes: Partial<RetryPolicy> = {}): RetryPolicy => ({
  deadlineMs: 20_000,
  backoff: { firstMs: 1 },
  activity: 'the store was unavailable',
  ...changes,
})

const failing = (times: number, error: Error = new Unavailable('no response')) => {
  let failures = 0
  return async () => {
    if (failures++ < times) throw error
    return 'done'
  }
}

it('retryUntilDeadline repeats the work until it succeeds', async () => {
  const result = retryUntilDeadline(policy(), failing(3))
  await expect(result).resolves.toBe('done')
})

it('retryUntilDeadline throws the last Unavailable once the deadline has passed', async () => {
  const result = retryUntilDeadline(policy({ deadlineMs: 5 }), failing(Infinity))
  await expect(result).rejects.toThrow('no response')
})

it('retryUntilDeadline throws an error other than Unavailable without a retry', async () => {
  const onRetry = vi.fn()
  const result = retryUntilDeadline(policy({ onRetry }), failing(1, new Error('bad request')))
  await expect(result).rejects.toThrow('bad request')
  expect(onRetry).not.toHaveBeenCalled()
})

it('retryUntilDeadline reports the number of failures before each pause', async () => {
  const failures: number[] = []
  const onRetry = (_error: Error, count: number) => void failures.push(count)
  const result = retryUntilDeadline(policy({ onRetry }), failing(2))
  await result
  expect(failures).toEqual([1, 2])
})

it('retryUntilDeadline ends with the error that onRetry throws', async () => {
  const onRetry = () => Promise.reject(new Error('the target is gone'))
  const result = retryUntilDeadline(policy({ onRetry }), failing(1))
  await expect(result).rejects.toThrow('the target is gone')
})

it('retryUntilDeadline names the interrupted activity when the signal aborts during a pause', async () => {
  const controller = new AbortController()
  const onRetry = () => void setImmediate(() => controller.abort())
  const backoff = { firstMs: 20_000, longestMs: 20_000 }
  const interruptible = policy({ signal: controller.signal, backoff, onRetry })
  await expect(retryUntilDeadline(interruptible, failing(Infinity))).rejects.toThrow(
    'interrupted while the store was unavailable',
  )
})

it('retryUntilDeadline restarts the backoff after progress', async () => {
  const counts: number[] = []
  const budget = createRetryBudget(policy({ onRetry: (_error, count) => void counts.push(count) }))
  const backOff = () => budget.backOff(new Unavailable('no response'))
  await backOff()
  await backOff()
  budget.resetBackoff()
  await backOff()
  expect(counts).toEqual([1, 2, 1])
})
