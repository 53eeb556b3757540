import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import {
  type ChooseFault,
  type FaultServer,
  startFaultServer,
} from '../support/http/fault-server.ts'
import { apiOrder } from '../support/orders-cli/api-order.ts'
import { restart } from './error-cases.ts'
import { getPrograms, listPrograms, openSampleRunner, type Sample } from './sample-programs.ts'

const order = apiOrder()
const page = { object: 'list', data: [order], has_more: false, next_cursor: null }

const samples = openSampleRunner()
let api: FaultServer
let server: FaultServer
let faultOf: ChooseFault
beforeAll(async () => {
  api = await startFaultServer('http://127.0.0.1', ({ pathname }) => {
    return { status: 200, body: JSON.stringify(pathname === '/v1/orders' ? page : order) }
  })
  server = await startFaultServer(api.baseUrl, (url) => faultOf(url))
})
afterAll(async () => {
  await Promise.all([server.close(), api.close()])
  samples.close()
})
beforeEach(() => {
  server.forget()
  faultOf = () => undefined
})

const run = (sample: Sample) =>
  samples.run(sample, [order.id], { baseUrl: server.baseUrl, key: 'key_of_the_account' })
const SUCCESS = { code: 0, output: expect.stringContaining(order.id) }

const programs = [...listPrograms, ...getPrograms]
const programsIn = (language: string) => programs.filter(({ label }) => label === language)

it.each(programsIn('bash com curl'))(
  'the sample in bash repeats a request without a response',
  async (sample) => {
    server.plan('silence')
    const source = sample.source.replace(/--max-time \d+/, '--max-time 1')
    expect(await run({ ...sample, source })).toMatchObject(SUCCESS)
    expect(server.requests.map(({ outcome }) => outcome)).toEqual(['silence', 200])
  },
)

// Older versions of curl wait exactly as long as the header says.
it('the samples in bash survive twelve seconds without a service', async () => {
  const untilMs = Date.now() + 12_000
  faultOf = () => (Date.now() < untilMs ? restart.answer : undefined)
  for (const result of await Promise.all(programsIn('bash com curl').map(run))) {
    expect(result).toMatchObject(SUCCESS)
  }
})

it.each(programs.filter(({ label }) => label !== 'bash com curl'))(
  'the sample in $label waits longer than Retry-After for a service that starts again',
  async (sample) => {
    let untilMs = 0
    faultOf = () => {
      if (server.requests.length === 0) untilMs = Date.now() + restart.seconds * 1_000
      return Date.now() < untilMs ? restart.answer : undefined
    }
    expect(await run(sample)).toMatchObject(SUCCESS)
    const rejections = server.requests.filter(({ outcome }) => outcome === restart.answer.status)
    expect(rejections.length).toBeGreaterThan(0)
    expect(rejections.length).toBeLessThanOrEqual(restart.maxRejections)
  },
)

it.each(programsIn('PHP'))(
  'the sample in PHP repeats a request without a whole response',
  async (sample) => {
    server.plan('cut', 'reset')
    expect(await run(sample)).toMatchObject(SUCCESS)
    expect(server.requests.map(({ outcome }) => outcome)).toEqual(['cut', 'reset', 200])
  },
)
