import { describe, expect, it, onTestFinished } from 'vitest'
import { monotonicClock } from '../../../../../src/lib/clock.ts'
import {
  createOriginPools,
  type OriginPoolsOptions,
} from '../../../../../src/webhooks/sending/egress/origin-pools.ts'
import { reply, response } from '../../../../support/webhooks/sending/receiver.ts'
import { openReceiver } from '../../../../support/webhooks/sending/sender.ts'

function openPools(options: Partial<OriginPoolsOptions> = {}) {
  const pools = createOriginPools({
    maxPools: 100,
    ttlMs: 60_000,
    monotonic: monotonicClock,
    pool: { keepAliveTimeout: 60_000 },
    ...options,
  })
  onTestFinished(() => pools.close())
  return {
    ...pools,
    size: () => pools.size,
    post: (origin: string) =>
      new Promise<number>((resolve) => {
        let status = 0
        pools.dispatch(
          { origin, path: '/', method: 'POST', body: '{}' },
          {
            onRequestStart() {},
            onResponseStart(_, statusCode) {
              status = statusCode
            },
            onResponseData() {},
            onResponseEnd: () => resolve(status),
            onResponseError: () => resolve(0),
          },
        )
      }),
  }
}

const originOf = ({ url }: { url: string }) => new URL(url).origin

describe('the pools of many origins', () => {
  it('a pool whose last connection closes ceases to exist', async () => {
    const receiver = await openReceiver(reply(response(200, { connection: 'close' })))
    const pools = openPools()
    expect(await pools.post(originOf(receiver))).toBe(200)
    await expect.poll(pools.size).toBe(0)
  })

  it('a pool stays while another connection has a request', async () => {
    const answers: ((headers: Record<string, string>) => void)[] = []
    const receiver = await openReceiver((socket) => {
      answers.push((headers) => socket.write(response(200, headers)))
    })
    const pools = openPools()
    const pending = [pools.post(originOf(receiver)), pools.post(originOf(receiver))]
    await expect.poll(() => answers.length).toBe(2)
    answers[0]?.({ connection: 'close' })
    await expect.poll(() => receiver.openConnections).toBe(1)
    expect(pools.size()).toBe(1)
    answers[1]?.({})
    expect(await Promise.all(pending)).toEqual([200, 200])
  })

  it('a pool with idle connections ceases to exist after the idle time', async () => {
    const receiver = await openReceiver(reply(response(200)))
    const pools = openPools({ pool: { keepAliveTimeout: 20 } })
    expect(await pools.post(originOf(receiver))).toBe(200)
    await expect.poll(pools.size).toBe(0)
    await expect.poll(() => receiver.openConnections).toBe(0)
  })

  it('a pool that never connects ceases to exist', async () => {
    const receiver = await openReceiver(() => {})
    await receiver.close()
    const pools = openPools()
    const results = [1, 2, 3].map(() => pools.post(originOf(receiver)))
    expect(await Promise.all(results)).toEqual([0, 0, 0])
    await expect.poll(pools.size).toBe(0)
  })

  it('at the limit, a new pool closes the oldest idle one, and none with a request', async () => {
    let answer = () => {}
    const busy = await openReceiver((socket) => {
      answer = () => socket.write(response(200))
    })
    const [first, second] = [
      await openReceiver(reply(response(200))),
      await openReceiver(reply(response(200))),
    ]
    const pools = openPools({ maxPools: 2 })
    const pending = pools.post(originOf(busy))
    await expect.poll(() => busy.requests.length).toBe(1)
    await pools.post(originOf(first))
    await pools.post(originOf(second))
    await expect.poll(() => first.openConnections).toBe(0)
    expect([busy.openConnections, second.openConnections, pools.size()]).toEqual([1, 1, 2])
    answer()
    expect(await pending).toBe(200)
  })

  it('a pool older than its limit finishes its requests beside its successor', async () => {
    const answers: (() => void)[] = []
    const receiver = await openReceiver((socket) => {
      answers.push(() => socket.write(response(200)))
    })
    let now = 0
    const pools = openPools({ ttlMs: 1_000, monotonic: () => now })
    const early = pools.post(originOf(receiver))
    await expect.poll(() => answers.length).toBe(1)
    now = 1_000
    const late = pools.post(originOf(receiver))
    await expect.poll(() => answers.length).toBe(2)
    for (const answer of answers) answer()
    expect(await Promise.all([early, late])).toEqual([200, 200])
    await expect.poll(() => receiver.openConnections).toBe(1)
  })
})
