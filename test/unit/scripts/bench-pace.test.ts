import { describe, expect, it } from 'vitest'
import { atPace } from '../../../scripts/bench/measuring/pace.ts'

const signal = new AbortController().signal

describe('the pace of the changes', () => {
  it('sends as many as the rate makes of the seconds, never more', async () => {
    const counts: number[] = []
    await atPace({ rate: 130, seconds: 0.2, signal }, async (due) => {
      counts.push(due.length)
    })
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(26)
    expect(counts.length).toBeGreaterThan(1)
  })

  it('does not wait for what was sent before it sends more', async () => {
    const first = Promise.withResolvers<void>()
    let sent = 0
    await atPace({ rate: 200, seconds: 0.1, signal }, async (due) => {
      sent += due.length
      if (sent === 20) first.resolve()
      await first.promise
    })
    expect(sent).toBe(20)
  })

  it('tells for each when it was due, evenly, however late it is sent', async () => {
    const due: number[] = []
    const startedAt = performance.now()
    await atPace({ rate: 200, seconds: 0.1, signal }, async (instants) => {
      if (due.length === 0) stall(30)
      due.push(...instants)
    })
    const first = due[0] ?? Number.NaN
    expect(first).toBeGreaterThanOrEqual(startedAt + 5)
    for (const [at, instant] of due.entries()) expect(instant).toBeCloseTo(first + 5 * at)
  })

  it('sends nothing before it is due', async () => {
    const early: number[] = []
    await atPace({ rate: 500, seconds: 0.1, signal }, async (due) => {
      early.push(...due.filter((instant) => instant > performance.now()))
    })
    expect(early).toEqual([])
  })

  it('fails with what could not be sent', async () => {
    const sending = atPace({ rate: 1_000, seconds: 60, signal }, async () => {
      throw new Error('no stream')
    })
    await expect(sending).rejects.toThrow('no stream')
  })

  it('ends when it is told to', async () => {
    const ended = AbortSignal.abort(new Error('interrupted'))
    const sending = atPace({ rate: 1_000, seconds: 60, signal: ended }, async () => {})
    await expect(sending).rejects.toThrow('interrupted')
  })
})

/** Holds this process up. */
function stall(ms: number): void {
  const endsAt = performance.now() + ms
  while (performance.now() < endsAt) {}
}
