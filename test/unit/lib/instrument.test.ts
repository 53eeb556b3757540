import { expect, it } from 'vitest'
import { combineInstruments, type Instrument, noopInstrument } from '../../../src/lib/instrument.ts'

function recording(name: string, events: string[]): Instrument<string> {
  return async (operation, call) => {
    events.push(`${name} ${operation}`)
    try {
      return await call()
    } finally {
      events.push(`${name} done`)
    }
  }
}

it('both see a call, one around the other, and it answers as it would alone', async () => {
  const events: string[] = []
  const both = combineInstruments(recording('outer', events), recording('inner', events))
  expect(await both('get', async () => 'answer')).toBe('answer')
  expect(events).toEqual(['outer get', 'inner get', 'inner done', 'outer done'])
})

it('a failure comes through as it is', async () => {
  const failure = new Error('gone')
  const both = combineInstruments(recording('outer', []), recording('inner', []))
  await expect(both('get', () => Promise.reject(failure))).rejects.toBe(failure)
})

it('where there is no second one, the first alone sees it', async () => {
  const first = recording('outer', [])
  expect(combineInstruments(first, undefined)).toBe(first)
})

it('a call that nobody looks at is just made', async () => {
  expect(await noopInstrument('get', async () => 'answer')).toBe('answer')
})
