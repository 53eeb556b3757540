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

describe('the concurrency limiter', () => {
  it('the limiter admits maxConcurrent requests and rejects the next one', () => {
    const { limiter } = createLimiter(2)
    expect(limiter.tryAcquire(request())).toBeUndefined()
    expect(limiter.tryAcquire(request())).toBeUndefined()
    expect(limiter.tryAcquire(request())).toBe('concurrency')
  })

  it('the limiter frees a slot in the turn after the release, and not earlier', async () => {
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

  it('the limiter frees the slot of a client that disconnected before the response', async () => {
    const { limiter } = createLimiter(1)
    const first = request()
    limiter.tryAcquire(first)
    first.emit('close')
    await nextTurn()
    expect(limiter.tryAcquire(request())).toBeUndefined()
  })

  it('the limiter releases a slot once, however the request ends', async () => {
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

  it('a rejected request releases no slot', async () => {
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
  ])('in an event loop turn of %i ms, the limiter returns %s', (delayMs, expected) => {
    const { limiter, clock } = createLimiter(10)
    limiter.tryAcquire(request())
    clock.nowMs += delayMs
    expect(limiter.tryAcquire(request())).toBe(expected)
  })

  it('the limiter includes the time of responses in the age of a turn', async () => {
    const { limiter, clock } = createLimiter(10)
    const first = request()
    limiter.tryAcquire(first)
    await nextTurn()
    limiter.release(first)
    clock.nowMs += 501
    expect(limiter.tryAcquire(request())).toBe('event_loop')
  })

  it('the limiter admits requests again in the turn after one that was too long', async () => {
    const { limiter, clock } = createLimiter(10)
    limiter.tryAcquire(request())
    clock.nowMs += 10_000
    await nextTurn()
    expect(limiter.tryAcquire(request())).toBeUndefined()
  })
})
