import { setImmediate as aTurnOfTheLoop } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createRateLimiter } from '../../../../src/client/http/rate-limiter.ts'

const reported = (limit: number, remaining: number, reset: number) =>
  new Headers({
    'ratelimit-limit': `${limit}`,
    'ratelimit-remaining': `${remaining}`,
    'ratelimit-reset': `${reset}`,
  })

/** A rate limiter on a clock that advances only during sleeps. */
function openRateLimiter() {
  const time = { nowMs: 0 }
  const rateLimiter = createRateLimiter(
    () => time.nowMs,
    async (ms, signal) => {
      signal?.throwIfAborted()
      time.nowMs += ms
      await aTurnOfTheLoop() // Lets the test poll in between.
    },
  )
  return { rateLimiter, time }
}

/** A rate limiter after a response with this bucket. */
async function openWithBucket(limit: number, remaining: number, reset: number) {
  const { rateLimiter, time } = openRateLimiter()
  rateLimiter.release(await rateLimiter.acquire(), reported(limit, remaining, reset))
  return { rateLimiter, time }
}

/** When each of `calls` consecutive calls is sent, in milliseconds. */
async function sendAt({ rateLimiter, time }: ReturnType<typeof openRateLimiter>, calls: number) {
  const at: number[] = []
  for (let call = 0; call < calls; call++) {
    await rateLimiter.acquire()
    at.push(Math.round(time.nowMs))
  }
  return at
}

describe('the rate limiter', () => {
  it('sends as many calls as there are tokens, then one per refilled token', async () => {
    expect(await sendAt(await openWithBucket(20, 2, 2), 5)).toEqual([0, 0, 111, 222, 333])
  })

  it('the rate limiter never assumes more tokens than the bucket holds after idle time', async () => {
    const opened = await openWithBucket(3, 0, 3)
    opened.time.nowMs = 3_600_000
    const at = await sendAt(opened, 4)
    expect(at.map((ms) => ms - 3_600_000)).toEqual([0, 0, 0, 1_000])
  })

  it('subtracts calls in flight from the reported tokens', async () => {
    const opened = await openWithBucket(20, 10, 1)
    const { rateLimiter } = opened
    await rateLimiter.acquire() // In flight throughout.
    const answered = await rateLimiter.acquire()
    await rateLimiter.acquire()
    rateLimiter.release(answered, reported(20, 2, 2))
    expect(await sendAt(opened, 1)).toEqual([111])
  })

  it('ignores a response to an earlier call than the latest reported', async () => {
    const opened = await openWithBucket(20, 10, 1)
    const { rateLimiter } = opened
    const [late, early] = [await rateLimiter.acquire(), await rateLimiter.acquire()]
    rateLimiter.release(early, reported(20, 0, 2))
    rateLimiter.release(late, reported(20, 19, 1))
    expect(await sendAt(opened, 1)).toEqual([200])
  })

  it('pauses all calls for the longest requested time', async () => {
    const opened = await openWithBucket(20, 20, 0)
    opened.rateLimiter.pause(5_000)
    opened.rateLimiter.pause(1_000)
    expect(await sendAt(opened, 2)).toEqual([5_000, 5_000])
  })

  it.each([
    ['no bucket', new Headers()],
    ['a bucket of capacity 0', reported(0, 0, 1)],
    ['a bucket that takes years to refill', reported(20, 0, 999_999_999)],
    ['invalid numbers', new Headers({ 'ratelimit-limit': 'x' })],
  ])('sends one call at a time after a response with %s', async (_what, headers) => {
    const { rateLimiter, time } = openRateLimiter()
    rateLimiter.release(await rateLimiter.acquire(), headers)
    const inFlight = await rateLimiter.acquire()
    const waiting = rateLimiter.acquire()
    await expect.poll(() => time.nowMs).toBeGreaterThan(50)
    rateLimiter.release(inFlight)
    expect(await waiting).toBe(3)
  })
})

describe('a call that is aborted', () => {
  const reason = new Error('enough')

  it('leaves the queue at once, and the calls behind it keep their order', async () => {
    let wake = () => {}
    const rateLimiter = createRateLimiter(
      () => 0,
      () => new Promise<void>((resolve) => (wake = resolve)),
    )
    const first = await rateLimiter.acquire() // In flight, so that the next one waits.
    const second = rateLimiter.acquire()
    const control = new AbortController()
    const third = rateLimiter.acquire(control.signal)
    const fourth = rateLimiter.acquire()

    control.abort(reason)
    await expect(third).rejects.toBe(reason)
    rateLimiter.release(first, reported(20, 20, 0))
    wake()
    expect(await second).toBe(2)
    expect(await fourth).toBe(3)
  })

  it('a call that is aborted is not sent if its signal was already aborted', async () => {
    const { rateLimiter } = openRateLimiter()
    await expect(rateLimiter.acquire(AbortSignal.abort(reason))).rejects.toBe(reason)
    expect(await rateLimiter.acquire()).toBe(1)
  })
})
