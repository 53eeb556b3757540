import { describe, expect, it } from 'vitest'
import type { Pass, SyncState } from '../../../src/client/copy.ts'
import { later, nextPass } from '../../../src/client/pass.ts'

const NOW = '2026-03-10T12:00:00.000Z'
const plan = { overlapMs: 60_000, walkAllEveryMs: 86_400_000, nowMs: Date.parse(NOW) }

const ended: Pass = {
  number: 3,
  kind: 'changes',
  updatedGte: null,
  cursor: null,
  reached: 'done',
}
const unfinished = (kind: Pass['kind']): Pass => ({
  ...ended,
  kind,
  cursor: 'abc',
  reached: 'listing',
})

const state = (more: Partial<SyncState> = {}): SyncState => ({
  version: 1,
  source: { url: 'https://api.example.com', key: '0' },
  since: null,
  watermark: '2026-03-10T11:59:30.123Z',
  walkedAt: '2026-03-10T00:00:00.000Z',
  pass: ended,
  ...more,
})

const all = {
  kind: 'all',
  number: 4,
  received: 0,
  cursor: null,
  reached: 'listing',
  updatedGte: null,
}

describe('the next walk', () => {
  it('is of changes, from a little before the greatest updated_at', () => {
    const updatedGte = '2026-03-10T11:58:30.123Z'
    expect(nextPass(state(), plan)).toEqual({ ...all, kind: 'changes', updatedGte })
  })

  it.each([
    ['there was none', { walkedAt: null }],
    ['the last one is a day old', { walkedAt: '2026-03-09T12:00:00.000Z' }],
    ['the last one is in the future: a clock was set', { walkedAt: '2026-03-10T12:00:01.000Z' }],
    ['nothing with a date was seen', { watermark: null }],
    [
      'a walk of changes was not finished, and it is time',
      { walkedAt: null, pass: unfinished('changes') },
    ],
  ])('is over everything when %s', (_why, more) => {
    expect(nextPass(state(more), plan)).toEqual(all)
  })

  it('is over everything from the instant on that was asked for', () => {
    const since = '2026-03-01T00:00:00.000Z'
    expect(nextPass(state({ since, walkedAt: null }), plan).updatedGte).toBe(since)
  })

  it('is of changes from no earlier than that instant, whatever the overlap', () => {
    const since = '2026-03-10T11:59:00.000Z'
    expect(nextPass(state({ since }), plan)).toMatchObject({ kind: 'changes', updatedGte: since })
  })

  it('is of changes from that instant on while nothing was seen', () => {
    const since = '2026-03-01T00:00:00.000Z'
    const next = nextPass(state({ since, watermark: null }), plan)
    expect(next).toMatchObject({ kind: 'changes', updatedGte: since })
  })

  it.each([
    ['of changes', { pass: unfinished('changes') }],
    ['over everything', { pass: unfinished('all'), walkedAt: null }],
  ])('is the one %s that was not finished', (_which, more) => {
    const given = state(more)
    expect(nextPass(given, plan)).toBe(given.pass)
  })
})

describe('the later of two instants', () => {
  const [early, late] = ['2026-03-01T12:00:00Z', '2026-03-01T09:00:01-03:00']
  it.each([
    [early, late, late],
    [late, early, late],
    [null, early, early],
    [early, null, early],
    [null, null, null],
  ])('of %s and %s is %s', (one, other, expected) => {
    expect(later(one, other)).toBe(expected)
  })
})
