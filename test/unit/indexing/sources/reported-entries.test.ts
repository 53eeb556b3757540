import { beforeEach, describe, expect, it } from 'vitest'
import {
  createReportedEntries,
  type ReportedEntries,
} from '../../../../src/indexing/sources/reported-entries.ts'
import type { WriteResult } from '../../../../src/indexing/writer/decide.ts'

const REFUSED: WriteResult = { path: '', reason: 'not an order' }

let reported: ReportedEntries
beforeEach(() => {
  reported = createReportedEntries()
})

function results(...entries: [id: string, result: WriteResult][]): string[] {
  const written = entries.map(([id, result]) => ({
    entry: { id, order: undefined, fields: [], ageMs: 0 },
    result,
  }))
  return reported.firstResults(written).map(({ entry: { id } }) => id)
}
const lost = (...ids: string[]) =>
  reported.firstLost(ids.map((id) => ({ id, count: 1 }))).map(({ id }) => id)

describe('the reported entries of a watch', () => {
  it('a repeated entry is not reported again, with any result', () => {
    expect(results(['1', 'written'], ['2', REFUSED])).toEqual(['1', '2'])
    expect(results(['1', 'older'], ['2', REFUSED], ['3', 'written'])).toEqual(['3'])
  })

  it('a written entry that is removed before its acknowledgement is not lost', () => {
    results(['1', 'written'])
    expect(lost('1')).toEqual([])
  })

  it('a refused entry that is removed before its dead letter is stored is lost once', () => {
    results(['1', REFUSED])
    expect(lost('1')).toEqual(['1'])
    expect(lost('1')).toEqual([])
  })

  it('a confirmed entry is forgotten, and the others are not', () => {
    results(['1', 'written'], ['2', REFUSED])
    reported.forget(['1', '2'])
    expect(results(['1', 'written'], ['2', REFUSED])).toEqual(['1', '2'])
    reported.forget(['1'])
    expect(results(['1', 'written'], ['2', REFUSED])).toEqual(['1'])
  })

  it('nothing is remembered of an empty stream', () => {
    results(['1', 'written'], ['2', REFUSED])
    lost('3')
    reported.clear()
    expect([...results(['1', 'written'], ['2', REFUSED]), ...lost('3')]).toEqual(['1', '2', '3'])
  })
})
