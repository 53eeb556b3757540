import { describe, expect, it } from 'vitest'
import { orderedConcurrentMap } from '../../../../src/indexing/sources/ordered-concurrent-map.ts'

async function* valuesOf(...values: number[]) {
  yield* values
}

/** Work that the test settles, and the values whose work started. */
function startWork() {
  const ends = new Map<number, PromiseWithResolvers<string>>()
  const started: number[] = []
  return {
    started,
    end: (value: number) => ends.get(value)?.resolve(`done ${value}`),
    fail: (value: number) => ends.get(value)?.reject(new Error(`failed ${value}`)),
    work(value: number): Promise<string> {
      started.push(value)
      const end = Promise.withResolvers<string>()
      ends.set(value, end)
      return end.promise
    },
  }
}

const soon = () => new Promise((resolve) => setImmediate(resolve))

describe('the ordered concurrent map', () => {
  it('the map runs several values concurrently and yields their results in sequence', async () => {
    const { work, started, end } = startWork()
    const results = orderedConcurrentMap(valuesOf(1, 2, 3), work, 2)
    const first = results.next()
    await soon()
    expect(started).toEqual([1, 2])
    end(2)
    end(1)
    expect((await first).value).toEqual({ value: 1, result: 'done 1' })
    expect(started).toEqual([1, 2])

    expect((await results.next()).value).toEqual({ value: 2, result: 'done 2' })
    const third = results.next()
    await soon()
    expect(started).toEqual([1, 2, 3])
    end(3)
    expect((await third).value).toEqual({ value: 3, result: 'done 3' })
    expect((await results.next()).done).toBe(true)
  })

  it('the map throws the first failure after the running work has settled', async () => {
    const { work, end, fail } = startWork()
    const results = orderedConcurrentMap(valuesOf(1, 2, 3), work, 2)
    let isOver = false
    const first = results.next().finally(() => {
      isOver = true
    })
    first.catch(() => {}) // Awaited below.
    await soon()
    fail(1)
    await soon()
    expect(isOver).toBe(false)
    end(2)
    await expect(first).rejects.toThrow('failed 1')
  })

  it('the map throws the failure of its generator after all earlier results', async () => {
    const { work, started, end } = startWork()
    async function* broken() {
      yield 1
      throw new Error('half a file')
    }
    const results = orderedConcurrentMap(broken(), work, 2)
    const first = results.next()
    await soon()
    expect(started).toEqual([1])
    end(1)
    expect((await first).value).toEqual({ value: 1, result: 'done 1' })
    await expect(results.next()).rejects.toThrow('half a file')
  })

  it('the map yields results and failures while the generator is blocked', async () => {
    const { work, end, fail } = startWork()
    async function* slow() {
      yield 1
      yield 2
      await new Promise(() => {})
    }
    const results = orderedConcurrentMap(slow(), work, 3)
    const first = results.next()
    await soon()
    end(1)
    expect((await first).value).toEqual({ value: 1, result: 'done 1' })
    fail(2)
    await expect(results.next()).rejects.toThrow('failed 2')
  })

  it('the map generates one value ahead of the running work, and no more', async () => {
    const { work } = startWork()
    const made: number[] = []
    async function* counted() {
      for (const value of [1, 2, 3, 4]) {
        made.push(value)
        yield value
      }
    }
    orderedConcurrentMap(counted(), work, 2).next()
    await soon()
    expect(made).toEqual([1, 2, 3])
  })
})
