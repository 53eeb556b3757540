import { describe, expect, it } from 'vitest'
import { memoizeAsync } from '../../../src/lib/memoize-async.ts'

/** Work that is done in these ways, one after the other, and tells how often it was. */
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

describe('work that is done once', () => {
  it('is not done before it is asked for', () => {
    expect(working(succeed).done()).toBe(0)
  })

  it('gives everybody what it gave the first', async () => {
    const { work, done } = working(succeed)
    expect([await work(), await work(), await work()]).toEqual([7, 7, 7])
    expect(done()).toBe(1)
  })

  it('is done once for all who ask at the same time', async () => {
    const { work, done } = working(succeed)
    expect(await Promise.all([work(), work(), work()])).toEqual([7, 7, 7])
    expect(done()).toBe(1)
  })

  it('is told to all who waited when it fails, and tried again for the next', async () => {
    const { work, done } = working(fail, succeed)
    const outcomes = await Promise.allSettled([work(), work()])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await work()).toBe(7)
    expect(done()).toBe(2)
  })

  it('may fail again', async () => {
    const { work } = working(fail, fail, succeed)
    await expect(work()).rejects.toThrow('disk full')
    await expect(work()).rejects.toThrow('disk full')
    expect(await work()).toBe(7)
  })

  it('is not done again for having given nothing', async () => {
    let done = 0
    const work = memoizeAsync(async () => {
      done++
    })
    await work()
    await work()
    expect(done).toBe(1)
  })
})
