import { describe, expect, it } from 'vitest'
import { later, nextRun } from '../../../../src/client/sync/sync-run.ts'
import type { SyncRun, SyncState } from '../../../../src/client/sync/sync-store.ts'

const NOW = '2026-03-10T12:00:00.000Z'
const plan = { overlapMs: 60_000, fullSyncIntervalMs: 86_400_000, nowMs: Date.parse(NOW) }

const ended: SyncRun = {
  number: 3,
  kind: 'changes',
  updatedGte: null,
  cursor: null,
  reached: 'done',
}
const unfinished = (kind: SyncRun['kind']): SyncRun => ({
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

describe('the next run', () => {
  it('reads changes from the watermark minus the overlap', () => {
    const updatedGte = '2026-03-10T11:58:30.123Z'
    expect(nextRun(state(), plan)).toEqual({ ...all, kind: 'changes', updatedGte })
  })

  it.each([
    ['there was no full sync', { walkedAt: null }],
    ['the last full sync is a day old', { walkedAt: '2026-03-09T12:00:00.000Z' }],
    [
      'the last full sync is in the future because the clock was wrong',
      { walkedAt: '2026-03-10T12:00:01.000Z' },
    ],
    ['no dated order was seen', { watermark: null }],
    [
      'a run of changes is unfinished and a full sync is due',
      { walkedAt: null, pass: unfinished('changes') },
    ],
  ])('the next run is a full sync when %s', (_why, more) => {
    expect(nextRun(state(more), plan)).toEqual(all)
  })

  it('the next run is a full sync from the `since` of the store', () => {
    const since = '2026-03-01T00:00:00.000Z'
    expect(nextRun(state({ since, walkedAt: null }), plan).updatedGte).toBe(since)
  })

  it('reads changes from `since` at the earliest, whatever the overlap', () => {
    const since = '2026-03-10T11:59:00.000Z'
    expect(nextRun(state({ since }), plan)).toMatchObject({ kind: 'changes', updatedGte: since })
  })

  it('reads changes from `since` while no dated order was seen', () => {
    const since = '2026-03-01T00:00:00.000Z'
    const next = nextRun(state({ since, watermark: null }), plan)
    expect(next).toMatchObject({ kind: 'changes', updatedGte: since })
  })

  it.each([
    ['run of changes', { pass: unfinished('changes') }],
    ['full sync', { pass: unfinished('all'), walkedAt: null }],
  ])('the next run is the unfinished %s', (_which, more) => {
    const given = state(more)
    expect(nextRun(given, plan)).toBe(given.pass)
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
  ])('the later of %s and %s is %s', (one, other, expected) => {
    expect(later(one, other)).toBe(expected)
  })
})
