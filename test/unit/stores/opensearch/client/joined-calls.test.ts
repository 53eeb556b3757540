import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Unavailable } from '../../../../../src/lib/errors/unavailable.ts'
import {
  ClientDisconnected,
  type RequestScope,
  unbounded,
} from '../../../../../src/lib/request-scope.ts'
import { joinCalls } from '../../../../../src/stores/opensearch/client/joined-calls.ts'

/** A request in flight. */
interface Sent {
  calls: readonly string[]
  scope: RequestScope
  answer(results: readonly (string | Error)[]): void
  fail(error: Error): void
}

function join(maxCalls = 3) {
  const sent: Sent[] = []
  const call = joinCalls<string, string>({
    maxCalls,
    deadlineMs: 1_000,
    send: (calls, scope) =>
      new Promise((answer, fail) => {
        sent.push({ calls, scope, answer, fail })
      }),
  })
  return { sent, call, turn: () => vi.advanceTimersByTimeAsync(0) }
}

/** A client that can disconnect. */
function client(remainingMs = Infinity) {
  const stops = new Set<() => void>()
  const scope: RequestScope = {
    ...unbounded,
    remainingMs: () => remainingMs,
    onDisconnect(stop) {
      stops.add(stop)
      return () => void stops.delete(stop)
    },
  }
  const disconnect = () => {
    for (const stop of stops) stop()
  }
  return { scope, stops, disconnect }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('joined calls', () => {
  it('share the requests of a turn, each with at most so many', async () => {
    const { sent, call, turn } = join()
    const results = ['a', 'b', 'c', 'd'].map((name) => call(name, unbounded))
    await turn()
    const later = call('e', unbounded)
    await turn()
    expect(sent.map(({ calls }) => calls)).toEqual([['a', 'b', 'c'], ['d'], ['e']])
    for (const { calls, answer } of sent) answer(calls.map((name) => `of ${name}`))
    expect(await Promise.all([...results, later])).toEqual(['of a', 'of b', 'of c', 'of d', 'of e'])
  })

  it('end with the error of each, or with that of their request', async () => {
    const { sent, call, turn } = join(2)
    const results = Promise.allSettled(['a', 'b', 'c', 'd'].map((name) => call(name, unbounded)))
    await turn()
    const [mine, ours] = [new Unavailable('mine'), new Unavailable('ours')]
    sent[0]?.answer(['of a', mine])
    sent[1]?.fail(ours)
    expect(await results).toEqual([
      { status: 'fulfilled', value: 'of a' },
      { status: 'rejected', reason: mine },
      { status: 'rejected', reason: ours },
      { status: 'rejected', reason: ours },
    ])
  })

  it('end with an error when their request has no result for them', async () => {
    const { sent, call, turn } = join()
    const results = Promise.allSettled([call('a', unbounded), call('b', unbounded)])
    await turn()
    sent[0]?.answer(['of a'])
    expect(await results).toEqual([
      { status: 'fulfilled', value: 'of a' },
      { status: 'rejected', reason: new Error('a joined call has no result') },
    ])
  })

  it('end at their own timeout, and their request at the latest', async () => {
    const { sent, call, turn } = join()
    const early = call('early', client(100).scope).catch((error) => error)
    const late = call('late', client(5_000).scope)
    await turn()
    expect(sent[0]?.scope.remainingMs()).toBe(1_000)
    await vi.advanceTimersByTimeAsync(100)
    expect(await early).toEqual(new Unavailable('no response from OPENSEARCH_URL in 100 ms'))
    sent[0]?.answer(['of early', 'of late'])
    expect(await late).toBe('of late')
    expect(vi.getTimerCount()).toBe(0)
  })

  it('are not sent after the deadline of their request', async () => {
    const { sent, call, turn } = join()
    await expect(call('a', client(0).scope)).rejects.toBeInstanceOf(Unavailable)
    await turn()
    expect(sent).toEqual([])
  })

  it('end when their client disconnects, and their request when all have', async () => {
    const { sent, call, turn } = join()
    const [first, second] = [client(), client()]
    const results = [first, second].map(({ scope }) => call('a', scope).catch((error) => error))
    await turn()
    const stop = vi.fn()
    sent[0]?.scope.onDisconnect(stop)
    first.disconnect()
    expect(await results[0]).toBeInstanceOf(ClientDisconnected)
    expect(stop).not.toHaveBeenCalled()
    second.disconnect()
    expect(await results[1]).toBeInstanceOf(ClientDisconnected)
    expect(stop).toHaveBeenCalledOnce()
  })

  it('end before they are sent when all clients have disconnected', async () => {
    const { sent, call, turn } = join()
    const gone: RequestScope = {
      ...unbounded,
      onDisconnect(stop) {
        stop()
        return () => {}
      },
    }
    const result = call('a', gone).catch((error) => error)
    await turn()
    const stop = vi.fn()
    sent[0]?.scope.onDisconnect(stop)
    expect(stop).toHaveBeenCalledOnce()
    expect(await result).toBeInstanceOf(ClientDisconnected)
  })

  it('keep no registration with a client after the response', async () => {
    const { sent, call, turn } = join()
    const { scope, stops } = client()
    const result = call('a', scope)
    await turn()
    expect(stops.size).toBe(1)
    sent[0]?.answer(['of a'])
    await result
    expect(stops.size).toBe(0)
  })
})
