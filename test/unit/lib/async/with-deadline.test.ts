import { expect, it, vi } from 'vitest'
import { withDeadline } from '../../../../src/lib/async/with-deadline.ts'
import { MINUTE_MS } from '../../../../src/lib/durations.ts'

it('withDeadline returns a result in time, and no timeout follows', async () => {
  const onTimeout = vi.fn(() => new Error('too late'))
  expect(await withDeadline(async () => 1, 1, onTimeout)).toBe(1)
  await new Promise((resolve) => setTimeout(resolve, 10))
  expect(onTimeout).not.toHaveBeenCalled()
})

it('withDeadline throws the error of the work', async () => {
  const failing = () => Promise.reject(new Error('refused'))
  await expect(withDeadline(failing, MINUTE_MS, () => new Error('too late'))).rejects.toThrow(
    'refused',
  )
})

it('withDeadline throws the error of the timeout while the work continues', async () => {
  const never = () => new Promise<never>(() => {})
  await expect(withDeadline(never, 1, () => new Error('too late'))).rejects.toThrow('too late')
})

it('withDeadline rejects without a warning when the deadline has passed', async () => {
  const warnings: Error[] = []
  const collect = (warning: Error) => void warnings.push(warning)
  process.on('warning', collect)
  const never = () => new Promise<never>(() => {})
  await expect(withDeadline(never, -100, () => new Error('too late'))).rejects.toThrow('too late')
  process.off('warning', collect)
  expect(warnings).toEqual([])
})
