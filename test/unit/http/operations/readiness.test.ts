import { pino } from 'pino'
import { beforeEach, expect, it } from 'vitest'
import { createWatchReadiness } from '../../../../src/cli/indexer/watch-readiness.ts'
import { createReadiness, type Readiness } from '../../../../src/http/operations/readiness.ts'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'

const NOON = Date.parse('2026-03-01T12:00:00Z')

let unavailable: string[]
let lastStampMs: number | null
let isFaulty: boolean
let logged: { msg: string; reasons?: Record<string, string> }[]
let readiness: Readiness
let watchReadiness: Readiness
beforeEach(() => {
  unavailable = []
  lastStampMs = null
  isFaulty = false
  logged = []
  const check = (name: string) => async () => {
    if (unavailable.includes(name))
      throw new Unavailable(`no response from http://user:secret@${name}`)
    return null
  }
  const logger = pino({}, { write: (line: string) => logged.push(JSON.parse(line)) })
  const services = {
    keys: { ping: check('keys') },
    orders: { latestWrite: check('orders') },
    isLimiterDegraded: async () => unavailable.includes('redis'),
  }
  type Services = Parameters<typeof createReadiness>[0]
  type WatchServices = Parameters<typeof createWatchReadiness>[0]
  readiness = createReadiness(services as unknown as Services, logger)
  const inspection = {
    writeTimestamps: async () => ({ lastWriteTimestamp: lastStampMs, clockMs: NOON }),
  }
  const stream = { ping: async () => void (await check('stream')()) }
  const watched = { ...services, inspection } as unknown as WatchServices
  watchReadiness = createWatchReadiness(watched, stream, { isFaulty: () => isFaulty }, logger)
})

const WATCH_OK = { orders: 'ok', stamps: 'ok', stream: 'ok', alias: 'ok' }
const OK = { status: 'ok', checks: { orders: 'ok', keys: 'ok', limits: 'ok' } }

it('the service is ready, without a log line, when every store responds', async () => {
  expect(await readiness()).toEqual(OK)
  expect(logged).toEqual([])
})

it.each(['orders', 'keys'])(
  'the service is not ready without the %s store, and the response names the failed check',
  async (name) => {
    unavailable = [name]
    expect(await readiness()).toEqual({
      status: 'unavailable',
      checks: { ...OK.checks, [name]: 'unavailable' },
    })
  },
)

it('the service is ready while rate limits are degraded, and the response reports it', async () => {
  unavailable = ['redis']
  expect(await readiness()).toEqual({ ...OK, checks: { ...OK.checks, limits: 'degraded' } })
})

it('readiness logs the reasons once, and the recovery', async () => {
  unavailable = ['orders', 'keys']
  await readiness()
  await readiness()
  unavailable = []
  await readiness()
  expect(logged).toMatchObject([
    {
      msg: 'not ready: the API responds 503',
      reasons: { orders: expect.stringContaining('no response') },
    },
    { msg: 'ready again' },
  ])
  expect(Object.keys(logged[0]?.reasons ?? {})).toEqual(['orders', 'keys'])
})

it('the health response contains no address, no credentials and no reason', async () => {
  unavailable = ['orders', 'keys', 'redis']
  expect(JSON.stringify(await readiness())).not.toMatch(/http|secret|answer/)
})

it.each(['orders', 'stream'])(
  'a watch is not ready when the check of its %s fails',
  async (name) => {
    expect(await watchReadiness()).toEqual({ status: 'ok', checks: WATCH_OK })
    unavailable = [name]
    const checks = { ...WATCH_OK, [name]: 'unavailable' }
    expect(await watchReadiness()).toEqual({ status: 'unavailable', checks })
    expect(logged).toMatchObject([{ msg: 'not ready: changes are delayed' }])
  },
)

it('a watch is not ready while write timestamps are more than 5 s ahead of the clock', async () => {
  lastStampMs = NOON + 5_000
  expect(await watchReadiness()).toEqual({ status: 'ok', checks: WATCH_OK })
  lastStampMs = NOON + 126_230_400_000
  expect(await watchReadiness()).toEqual({
    status: 'unavailable',
    checks: { ...WATCH_OK, stamps: 'unavailable' },
  })
  expect(logged).toMatchObject([
    {
      msg: 'not ready: changes are delayed',
      reasons: { stamps: 'write timestamps are 126230400 s ahead of the clock' },
    },
  ])
})

it('a watch is ready while the read alias has a fault, and the response reports it', async () => {
  isFaulty = true
  const checks = { ...WATCH_OK, alias: 'degraded' }
  expect(await watchReadiness()).toEqual({ status: 'ok', checks })
  expect(logged).toEqual([])
})
