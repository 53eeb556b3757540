import { pino } from 'pino'
import { beforeEach, expect, it } from 'vitest'
import { Unavailable } from '../../src/lib/unavailable.ts'
import { createReadiness, type Readiness } from '../../src/readiness.ts'

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
