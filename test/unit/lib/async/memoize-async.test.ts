import { describe, expect, it } from 'vitest'
import { memoizeAsync } from '../../../../src/lib/async/memoize-async.ts'

/** Work with the given successive results, and a call counter. */
function working(...outcomes: (() => Promise<number>)[]) {
  let done = 0
  const work = memoizeAsync(async () => {
    const outcome = outcomes[done++]
    if (outcome === undefined) throw new Error('done too often')
    return outcome()
  })
  return { work, done: () => done }
}
const succeed = async () => 7
const fail = async () => {
  throw new Error('disk full')
}

describe('memoizeAsync', () => {
  it('memoizeAsync does not run the work before the first call', () => {
    expect(working(succeed).done()).toBe(0)
  })

  it('returns the first result to every caller', async () => {
    const { work, done } = working(succeed)
    expect([await work(), await work(), await work()]).toEqual([7, 7, 7])
    expect(done()).toBe(1)
  })

  it('runs the work once for concurrent callers', async () => {
    const { work, done } = working(succeed)
    expect(await Promise.all([work(), work(), work()])).toEqual([7, 7, 7])
    expect(done()).toBe(1)
  })

  it('rejects all waiting callers on failure, and runs again for the next', async () => {
    const { work, done } = working(fail, succeed)
    const outcomes = await Promise.allSettled([work(), work()])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await work()).toBe(7)
    expect(done()).toBe(2)
  })

  it('rejects again when the second run fails', async () => {
    const { work } = working(fail, fail, succeed)
    await expect(work()).rejects.toThrow('disk full')
    await expect(work()).rejects.toThrow('disk full')
    expect(await work()).toBe(7)
  })

  it('memoizeAsync does not rerun work that returned undefined', async () => {
    let done = 0
    const work = memoizeAsync(async () => {
      done++
    })
    await work()
    await work()
    expect(done).toBe(1)
  })
})
