import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { readAhead } from '../../../../src/lib/async/read-ahead.ts'
import { collect } from '../../../support/orders/collect.ts'

/** Yields 1 to `count`, then throws if there is a failure. Records what is read, and its end. */
function numbers(count: number, failure?: Error) {
  const read: number[] = []
  const state = { closed: false }
  async function* values() {
    try {
      for (let n = 1; n <= count; n++) {
        read.push(n)
        yield n
      }
      if (failure) throw failure
    } finally {
      state.closed = true
    }
  }
  return { values: values(), read, state }
}

describe('readAhead', () => {
  it('yields every value in order', async () => {
    expect(await collect(readAhead(numbers(3).values))).toEqual([1, 2, 3])
    expect(await collect(readAhead(numbers(0).values))).toEqual([])
  })

  it('requests one value ahead of the consumer, and no more', async () => {
    const { values, read } = numbers(5)
    for await (const value of readAhead(values)) expect(read.at(-1)).toBe(Math.min(value + 1, 5))
  })

  it('throws an error after the values before it', async () => {
    const { values } = numbers(2, new Error('disk full'))
    const consumed: number[] = []
    const consume = async () => {
      for await (const value of readAhead(values)) {
        consumed.push(value)
        await setImmediate() // Meanwhile the value ahead fails, and nothing awaits it.
      }
    }
    await expect(consume()).rejects.toThrow('disk full')
    expect(consumed).toEqual([1, 2])
  })

  it('closes the iterable when the consumer stops early', async () => {
    const { values, state } = numbers(5)
    for await (const _ of readAhead(values)) break
    expect(state.closed).toBe(true)
  })

  it('keeps the error of the consumer when the value ahead fails', async () => {
    const { values } = numbers(1, new Error('disk full'))
    const consume = async () => {
      for await (const _ of readAhead(values)) throw new Error('stopped')
    }
    await expect(consume()).rejects.toThrow('stopped')
  })
})
