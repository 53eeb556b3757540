import { beforeEach, describe, expect, it } from 'vitest'
import {
  type CircuitBreaker,
  createCircuitBreaker,
} from '../../../../../src/webhooks/dispatcher/lanes/circuit-breaker.ts'

const NEVER = Number.POSITIVE_INFINITY
const MINUTE = 60_000

let breaker: CircuitBreaker
beforeEach(() => {
  breaker = createCircuitBreaker(false, 0)
})

const fail = (subject: string, nowMs = 0, isProbe = false, retryAfterMs: number | null = null) =>
  breaker.recordFailure({ subject, nowMs, isProbe, isRetry: false, retryAfterMs })

const failAgain = (subject: string) =>
  breaker.recordFailure({ subject, nowMs: 0, isProbe: false, isRetry: true, retryAfterMs: null })

function open(nowMs = 0): void {
  for (const subject of ['1', '2', '3', '4', '5']) fail(subject, nowMs)
}

describe('the circuit breaker', () => {
  it('it opens after failures of five different orders', () => {
    for (const subject of ['1', '2', '3', '4']) fail(subject)
    expect(breaker.isOpen()).toBe(false)
    fail('5')
    expect(breaker.isOpen()).toBe(true)
  })

  it('it never opens for one order, however often it fails', () => {
    for (let count = 0; count < 1_000; count++) fail('1')
    expect(breaker.isOpen()).toBe(false)
  })

  it('it never opens when other orders succeed in between', () => {
    for (let count = 0; count < 1_000; count++) {
      for (const subject of ['1', '2', '3', '4']) fail(subject)
      breaker.recordSuccess()
    }
    expect(breaker.isOpen()).toBe(false)
  })

  it('it never opens for retries, however many orders fail again', () => {
    for (let count = 0; count < 1_000; count++) failAgain(`${count}`)
    expect(breaker.isOpen()).toBe(false)
  })

  it('it opens after five new failures, also between retries', () => {
    for (const subject of ['1', '2', '3', '4', '5']) {
      expect(breaker.isOpen()).toBe(false)
      failAgain(`before ${subject}`)
      fail(subject)
    }
    expect(breaker.isOpen()).toBe(true)
  })

  it('its first probe prefers a new delivery, and then every second one', () => {
    open()
    const preferences = Array.from({ length: 4 }, () => {
      const prefersNew = breaker.prefersNew()
      breaker.startProbe()
      fail('1', 0, true)
      return prefersNew
    })
    expect(preferences).toEqual([true, false, true, false])
    breaker.recordSuccess()
    breaker.startProbe()
    open()
    expect(breaker.prefersNew()).toBe(true)
  })

  it('it probes after 10 s, and after twice as long each time, up to 15 minutes', () => {
    open(0)
    const delays = []
    for (let nowMs = 0; delays.length < 9; ) {
      const at = breaker.probeAt()
      delays.push((at - nowMs) / 1_000)
      breaker.startProbe()
      nowMs = at
      fail('1', nowMs, true)
    }
    expect(delays).toEqual([10, 20, 40, 80, 160, 320, 640, 900, 900])
  })

  it('it lets one probe through at a time', () => {
    open()
    breaker.startProbe()
    expect(breaker.probeAt()).toBe(NEVER)
    breaker.cancelProbe()
    expect(breaker.probeAt()).toBe(10_000)
  })

  it('the next probe after one that was postponed waits as long as the first one', () => {
    open()
    breaker.startProbe()
    breaker.postponeProbe(20_000)
    expect(breaker.probeAt()).toBe(30_000)
  })

  it('attempts from before the opening do not delay the next probe', () => {
    open()
    fail('6', 9_000)
    expect(breaker.probeAt()).toBe(10_000)
  })

  it.each([
    [5_000, 10_000],
    [30 * MINUTE, 30 * MINUTE],
    [600 * MINUTE, 60 * MINUTE],
  ])('a Retry-After of %i ms makes the next probe wait %i ms', (retryAfterMs, probeAt) => {
    for (const subject of ['1', '2', '3', '4']) fail(subject)
    fail('5', 0, false, retryAfterMs)
    expect(breaker.probeAt()).toBe(probeAt)
  })

  it('a success closes it, and the next opening starts with 10 s again', () => {
    open()
    breaker.startProbe()
    fail('1', 10_000, true)
    breaker.recordSuccess()
    expect(breaker.isOpen()).toBe(false)
    expect(breaker.probeAt()).toBe(NEVER)
    open(50_000)
    expect(breaker.probeAt()).toBe(60_000)
  })

  it('one that was open before a restart probes at once', () => {
    breaker = createCircuitBreaker(true, 7_000)
    expect(breaker.isOpen()).toBe(true)
    expect(breaker.probeAt()).toBe(7_000)
  })
})
