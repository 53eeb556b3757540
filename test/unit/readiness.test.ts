import { pino } from 'pino'
import { beforeEach, expect, it } from 'vitest'
import { Unavailable } from '../../src/lib/unavailable.ts'
import type { OrderStore } from '../../src/orders/order-store.ts'
import { createReadiness, createWatchReadiness, type Readiness } from '../../src/readiness.ts'

let isDown: boolean
let logged: { msg: string; reason?: string }[]
let isReady: Readiness
beforeEach(() => {
  isDown = false
  logged = []
  const look = async () => {
    if (isDown) throw new Unavailable('no answer')
    return null
  }
  const stores = { keys: { byId: look }, orders: { latestWrite: look } }
  const logger = pino({}, { write: (line: string) => logged.push(JSON.parse(line)) })
  isReady = createReadiness(stores as unknown as Parameters<typeof createReadiness>[0], logger)
})

it('is ready when every store answers, and says nothing of it', async () => {
  expect(await isReady()).toBe(true)
  expect(logged).toEqual([])
})

it('tells the log why it is not ready, once, and when it is again', async () => {
  isDown = true
  expect([await isReady(), await isReady()]).toEqual([false, false])
  isDown = false
  expect(await isReady()).toBe(true)
  expect(logged).toMatchObject([
    { msg: expect.stringContaining('not ready'), reason: 'no answer' },
    { msg: 'ready again' },
  ])
})

it.each(['orders', 'stream'])('a watch is not ready without its %s', async (missing) => {
  const look = (name: string) => async () => {
    if (name === missing) throw new Unavailable(`no ${name}`)
    return null
  }
  const logger = pino({}, { write: (line: string) => logged.push(JSON.parse(line)) })
  const orders = { latestWrite: look('orders') } as unknown as OrderStore
  const ping = async () => void (await look('stream')())
  expect(await createWatchReadiness({ orders }, { ping }, logger)()).toBe(false)
  expect(logged).toMatchObject([
    { msg: 'not ready: no change is written', reason: `no ${missing}` },
  ])
})
