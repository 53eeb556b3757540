import { setImmediate as aTurnOfTheLoop } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createPace } from '../../../src/client/pace.ts'

const told = (limit: number, remaining: number, reset: number) =>
  new Headers({
    'ratelimit-limit': `${limit}`,
    'ratelimit-remaining': `${remaining}`,
    'ratelimit-reset': `${reset}`,
  })

/** A pace on a clock that goes on only while somebody sleeps. */
function openPace() {
  const time = { nowMs: 0 }
  const pace = createPace(
    () => time.nowMs,
    async (ms, signal) => {
      signal?.throwIfAborted()
      time.nowMs += ms
      await aTurnOfTheLoop() // A test that looks on meanwhile has its turn, too.
    },
  )
  return { pace, time }
}

/** After an answer that told this. */
async function openTold(limit: number, remaining: number, reset: number) {
  const { pace, time } = openPace()
  pace.done(await pace.turn(), told(limit, remaining, reset))
  return { pace, time }
}

/** When so many calls in a row may be sent, in milliseconds. */
async function sendAt({ pace, time }: ReturnType<typeof openPace>, calls: number) {
  const at: number[] = []
  for (let call = 0; call < calls; call++) {
    await pace.turn()
    at.push(Math.round(time.nowMs))
  }
  return at
}

describe('the pace', () => {
  it('sends as many calls as there are tokens, then one as each comes back', async () => {
    expect(await sendAt(await openTold(20, 2, 2), 5)).toEqual([0, 0, 111, 222, 333])
  })

  it('takes no more for granted than the bucket holds, however long nobody called', async () => {
    const opened = await openTold(3, 0, 3)
    opened.time.nowMs = 3_600_000
    const at = await sendAt(opened, 4)
    expect(at.map((ms) => ms - 3_600_000)).toEqual([0, 0, 0, 1_000])
  })

  it('counts calls under way as not yet counted by an answer', async () => {
    const opened = await openTold(20, 10, 1)
    const { pace } = opened
    await pace.turn() // Under way all along.
    const answered = await pace.turn()
    await pace.turn()
    pace.done(answered, told(20, 2, 2))
    expect(await sendAt(opened, 1)).toEqual([111])
  })

  it('passes over an answer to an earlier call than that of the last one', async () => {
    const opened = await openTold(20, 10, 1)
    const { pace } = opened
    const [late, early] = [await pace.turn(), await pace.turn()]
    pace.done(early, told(20, 0, 2))
    pace.done(late, told(20, 19, 1))
    expect(await sendAt(opened, 1)).toEqual([200])
  })

  it('holds all calls for as long as it is told', async () => {
    const opened = await openTold(20, 20, 0)
    opened.pace.hold(5_000)
    opened.pace.hold(1_000)
    expect(await sendAt(opened, 2)).toEqual([5_000, 5_000])
  })

  it.each([
    ['no bucket', new Headers()],
    ['a bucket that holds nothing', told(0, 0, 1)],
    ['one that takes years to fill', told(20, 0, 999_999_999)],
    ['numbers that are none', new Headers({ 'ratelimit-limit': 'x' })],
  ])('sends one call at a time where it was told of %s', async (_what, headers) => {
    const { pace, time } = openPace()
    pace.done(await pace.turn(), headers)
    const underWay = await pace.turn()
    const waiting = pace.turn()
    await expect.poll(() => time.nowMs).toBeGreaterThan(50)
    pace.done(underWay)
    expect(await waiting).toBe(3)
  })
})

describe('a call that is aborted', () => {
  const reason = new Error('enough')

  it('leaves the line at once, and those behind it keep their place', async () => {
    let wake = () => {}
    const pace = createPace(
      () => 0,
      () => new Promise<void>((resolve) => (wake = resolve)),
    )
    const first = await pace.turn() // Under way, so that the next one waits.
    const second = pace.turn()
    const control = new AbortController()
    const third = pace.turn(control.signal)
    const fourth = pace.turn()

    control.abort(reason)
    await expect(third).rejects.toBe(reason)
    pace.done(first, told(20, 20, 0))
    wake()
    expect(await second).toBe(2)
    expect(await fourth).toBe(3)
  })

  it('is not sent where it was aborted before', async () => {
    const { pace } = openPace()
    await expect(pace.turn(AbortSignal.abort(reason))).rejects.toBe(reason)
    expect(await pace.turn()).toBe(1)
  })
})
