import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type FaultServer, startFaultServer } from '../support/http/fault-server.ts'
import { apiOrder } from '../support/orders-cli/api-order.ts'
import { getPrograms, listPrograms, openSampleRunner, type Sample } from './sample-programs.ts'

const order = apiOrder()
const page = { object: 'list', data: [order], has_more: false, next_cursor: null }

const samples = openSampleRunner()
let api: FaultServer
let server: FaultServer
beforeAll(async () => {
  api = await startFaultServer('http://127.0.0.1', ({ pathname }) => {
    return { status: 200, body: JSON.stringify(pathname === '/v1/orders' ? page : order) }
  })
  server = await startFaultServer(api.baseUrl)
})
afterAll(async () => {
  await Promise.all([server.close(), api.close()])
  samples.close()
})
beforeEach(() => server.forget())

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
