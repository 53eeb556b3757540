import { expect, it } from 'vitest'
import { type Observe, observedByBoth, unobserved } from '../../../src/lib/observe.ts'

function noting(name: string, told: string[]): Observe<string> {
  return async (operation, call) => {
    told.push(`${name} ${operation}`)
    try {
      return await call()
    } finally {
      told.push(`${name} done`)
    }
  }
}

it('both see a call, one around the other, and it answers as it would alone', async () => {
  const told: string[] = []
  const both = observedByBoth(noting('outer', told), noting('inner', told))
  expect(await both('get', async () => 'answer')).toBe('answer')
  expect(told).toEqual(['outer get', 'inner get', 'inner done', 'outer done'])
})

it('a failure comes through as it is', async () => {
  const failure = new Error('gone')
  const both = observedByBoth(noting('outer', []), noting('inner', []))
  await expect(both('get', () => Promise.reject(failure))).rejects.toBe(failure)
})

it('where there is no second one, the first alone sees it', async () => {
  const first = noting('outer', [])
  expect(observedByBoth(first, undefined)).toBe(first)
})

it('a call that nobody looks at is just made', async () => {
  expect(await unobserved('get', async () => 'answer')).toBe('answer')
})
