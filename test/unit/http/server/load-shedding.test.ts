import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createConcurrencyLimiter } from '../../../../src/http/server/load-shedding.ts'

const request = () => new ServerResponse(new IncomingMessage(new Socket()))

function createLimiter(maxConcurrent: number) {
  const clock = { nowMs: 0 }
  const limiter = createConcurrencyLimiter({
    maxConcurrent,
    maxLoopDelayMs: 500,
    clock: () => clock.nowMs,
  })
  return { limiter, clock }
}

describe('the gate', () => {
  it('lets in as many as there is room for, and nobody else', () => {
    const { limiter } = createLimiter(2)
    expect(limiter.tryAcquire(request())).toBeUndefined()
    expect(limiter.tryAcquire(request())).toBeUndefined()
    expect(limiter.tryAcquire(request())).toBe('concurrency')
  })

  it('has room again in the next turn of the loop once an answer is made, and not before', async () => {
    const { limiter } = createLimiter(1)
    const first = request()
    limiter.tryAcquire(first)
    limiter.release(first)
    expect(limiter.tryAcquire(request())).toBe('concurrency')
    await nextTurn()
    expect(limiter.tryAcquire(request())).toBeUndefined()
    await nextTurn()
    expect(limiter.tryAcquire(request())).toBe('concurrency')
  })

  it('has room again when a caller went away before the answer', async () => {
    const { limiter } = createLimiter(1)
    const first = request()
    limiter.tryAcquire(first)
    first.emit('close')
    await nextTurn()
    expect(limiter.tryAcquire(request())).toBeUndefined()
  })

  it('gives a place back once, however a request ends', async () => {
    const { limiter } = createLimiter(2)
    const [first, second] = [request(), request()]
    limiter.tryAcquire(first)
    limiter.tryAcquire(second)
    limiter.release(first)
    first.emit('close')
    limiter.release(first)
    await nextTurn()
    expect(limiter.tryAcquire(request())).toBeUndefined()
    expect(limiter.tryAcquire(request())).toBe('concurrency')
  })

  it('takes nothing from whoever was not let in', async () => {
    const { limiter } = createLimiter(1)
    const rejected = request()
    limiter.tryAcquire(request())
    limiter.tryAcquire(rejected)
    limiter.release(rejected)
    rejected.emit('close')
    await nextTurn()
    expect(limiter.tryAcquire(request())).toBe('concurrency')
  })

  it.each([
    [500, undefined],
    [501, 'event_loop'],
  ])('judges a turn of the loop that is %i ms old', (delayMs, expected) => {
    const { limiter, clock } = createLimiter(10)
    limiter.tryAcquire(request())
    clock.nowMs += delayMs
    expect(limiter.tryAcquire(request())).toBe(expected)
  })

  it('counts the time that answers take in a turn, too', async () => {
    const { limiter, clock } = createLimiter(10)
    const first = request()
    limiter.tryAcquire(first)
    await nextTurn()
    limiter.release(first)
    clock.nowMs += 501
    expect(limiter.tryAcquire(request())).toBe('event_loop')
  })

  it('takes requests again in the turn after one that was too long', async () => {
    const { limiter, clock } = createLimiter(10)
    limiter.tryAcquire(request())
    clock.nowMs += 10_000
    await nextTurn()
    expect(limiter.tryAcquire(request())).toBeUndefined()
  })
})
