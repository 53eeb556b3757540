import { describe, expect, it } from 'vitest'
import { atPace } from '../../../scripts/bench/measuring/pace.ts'

const signal = new AbortController().signal

describe('the pace of the changes', () => {
  it('sends as many as the rate makes of the seconds, never more', async () => {
    const counts: number[] = []
    await atPace({ rate: 130, seconds: 0.2, signal }, async (count) => {
      counts.push(count)
    })
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(26)
    expect(counts.length).toBeGreaterThan(1)
  })

  it('does not wait for what was sent before it sends more', async () => {
    const first = Promise.withResolvers<void>()
    let sent = 0
    await atPace({ rate: 200, seconds: 0.1, signal }, async (count) => {
      sent += count
      if (sent === 20) first.resolve()
      await first.promise
    })
    expect(sent).toBe(20)
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
