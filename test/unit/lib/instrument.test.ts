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

it('combined instruments wrap a call in order and return its result', async () => {
  const events: string[] = []
  const both = combineInstruments(recording('outer', events), recording('inner', events))
  expect(await both('get', async () => 'answer')).toBe('answer')
  expect(events).toEqual(['outer get', 'inner get', 'inner done', 'outer done'])
})

it('combined instruments pass on an error unchanged', async () => {
  const failure = new Error('gone')
  const both = combineInstruments(recording('outer', []), recording('inner', []))
  await expect(both('get', () => Promise.reject(failure))).rejects.toBe(failure)
})

it('combineInstruments without a second instrument returns the first', async () => {
  const first = recording('outer', [])
  expect(combineInstruments(first, undefined)).toBe(first)
})

it('noopInstrument returns the result of the call', async () => {
  expect(await noopInstrument('get', async () => 'answer')).toBe('answer')
})
