import { expect, it } from 'vitest'
import { oneAhead } from '../../../../src/indexing/sources/one-ahead.ts'
import { collect } from '../../../support/collect.ts'

/** Counts up to `last`, and keeps what was asked for. */
function counting(last: number, fails = false) {
  const made: number[] = []
  async function* values() {
    for (let value = 1; value <= last; value++) {
      made.push(value)
      yield value
    }
    if (fails) throw new Error('no more')
  }
  return { made, values: values() }
}

it('gives the same values in their order', async () => {
  expect(await collect(oneAhead(counting(3).values))).toEqual([1, 2, 3])
  expect(await collect(oneAhead(counting(0).values))).toEqual([])
})

it('has the next value made while one is worked on, and no more than that', async () => {
  const { made, values } = counting(5)
  const ahead = oneAhead(values)
  await ahead.next()
  await new Promise(setImmediate)
  expect(made).toEqual([1, 2])
  await ahead.next()
  await new Promise(setImmediate)
  expect(made).toEqual([1, 2, 3])
})

it('tells of a failure behind the values that came before it', async () => {
  const ahead = oneAhead(counting(1, true).values)
  expect(await ahead.next()).toEqual({ done: false, value: 1 })
  await new Promise(setImmediate)
  await expect(ahead.next()).rejects.toThrow('no more')
})

it('has nothing more made once nobody wants it', async () => {
  const { made, values } = counting(5)
  for await (const _ of oneAhead(values)) break
  await new Promise(setImmediate)
  expect(made).toEqual([1, 2])
  expect(await values.next()).toEqual({ done: true, value: undefined })
})
