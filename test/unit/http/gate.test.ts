import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createGate } from '../../../src/http/gate.ts'

const request = () => new ServerResponse(new IncomingMessage(new Socket()))

function gateOf(maxConcurrent: number) {
  const clock = { nowMs: 0 }
  const gate = createGate({ maxConcurrent, maxHeldUpMs: 500, clock: () => clock.nowMs })
  return { gate, clock }
}

describe('the gate', () => {
  it('lets in as many as there is room for, and nobody else', () => {
    const { gate } = gateOf(2)
    expect(gate.enter(request())).toBeUndefined()
    expect(gate.enter(request())).toBeUndefined()
    expect(gate.enter(request())).toBe('concurrency')
  })

  it('has room again in the next turn of the loop once an answer is made, and not before', async () => {
    const { gate } = gateOf(1)
    const first = request()
    gate.enter(first)
    gate.leave(first)
    expect(gate.enter(request())).toBe('concurrency')
    await nextTurn()
    expect(gate.enter(request())).toBeUndefined()
    await nextTurn()
    expect(gate.enter(request())).toBe('concurrency')
  })

  it('has room again when a caller went away before the answer', async () => {
    const { gate } = gateOf(1)
    const first = request()
    gate.enter(first)
    first.emit('close')
    await nextTurn()
    expect(gate.enter(request())).toBeUndefined()
  })

  it('gives a place back once, however a request ends', async () => {
    const { gate } = gateOf(2)
    const [first, second] = [request(), request()]
    gate.enter(first)
    gate.enter(second)
    gate.leave(first)
    first.emit('close')
    gate.leave(first)
    await nextTurn()
    expect(gate.enter(request())).toBeUndefined()
    expect(gate.enter(request())).toBe('concurrency')
  })

  it('takes nothing from whoever was not let in', async () => {
    const { gate } = gateOf(1)
    const refused = request()
    gate.enter(request())
    gate.enter(refused)
    gate.leave(refused)
    refused.emit('close')
    await nextTurn()
    expect(gate.enter(request())).toBe('concurrency')
  })

  it.each([
    [500, undefined],
    [501, 'event_loop'],
  ])('judges a turn of the loop that is %i ms old', (ageMs, expected) => {
    const { gate, clock } = gateOf(10)
    gate.enter(request())
    clock.nowMs += ageMs
    expect(gate.enter(request())).toBe(expected)
  })

  it('counts the time that answers take in a turn, too', async () => {
    const { gate, clock } = gateOf(10)
    const first = request()
    gate.enter(first)
    await nextTurn()
    gate.leave(first)
    clock.nowMs += 501
    expect(gate.enter(request())).toBe('event_loop')
  })

  it('takes requests again in the turn after one that was too long', async () => {
    const { gate, clock } = gateOf(10)
    gate.enter(request())
    clock.nowMs += 10_000
    await nextTurn()
    expect(gate.enter(request())).toBeUndefined()
  })
})
