import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { request as fetchOnce } from 'undici'
import { generateApiKey } from '../../../src/auth/api-key.ts'
import { MAX_FAILURES, WINDOW_MS } from '../../../src/rate-limit/failed-authentications.ts'
import type { Services } from '../../../src/services.ts'
import { openScratch } from '../../../test/harness/processes/scratch.ts'
import { type Settings, startServer } from '../../../test/harness/processes/service.ts'
import { type BenchContext, baselineFile, type Part, startBenched } from '../context.ts'
import { createLoadClient, type LoadRequest } from '../measuring/load.ts'
import { loopContender, race } from '../measuring/race.ts'
import { accessTo } from '../orders/pages.ts'
import { openEmbedded, openStores } from '../orders/stores.ts'
import type { Result, Sample, Section } from '../report.ts'

/** A kind of 401 or 429. */
export interface Refusal {
  name: string
  requests: readonly LoadRequest[]
  /** Other responses that are right, and how often at most. */
  allowed?: { what: string; times: number }
}

/** The bench poses as a trusted proxy, so it can choose the client's address. */
const SETTINGS = {
  TRUST_PROXY: '127.0.0.1/32',
  RATE_LIMIT_CAPACITY: '1',
  RATE_LIMIT_REFILL_PER_SECOND: '1',
} as const
const ACCOUNT = 'acc_refused'
/** The service blocks an address after 30 refusals a minute: here only after two million. */
const ADDRESSES = 65_536
const WINDOW_SECONDS = WINDOW_MS / 1000
const CONNECTION_HEADERS = ['connection', 'keep-alive', 'date', 'content-length']
const RATIO = { name: 'api÷bare', of: 'api', per: 'bare', figure: 'perSecond' } as const
const LEGEND = `bare: a Fastify route in a separate process that returns the same status, headers and bytes, without a log
µs: CPU time of an answer, in the process and behind it`

/** Rejections against a bare route with the same responses, on both kinds of stores. */
export const refusalsPart: Part = {
  name: 'refusals',
  about: '401 and 429 against a bare route of Fastify',
  async measure(context, scope) {
    const settings = { ...context.settings, ...SETTINGS }
    const embedded = await openEmbedded(settings, scope)
    const services = await openStores(settings, scope)
    await services.initialize()
    const alone = await compareOn(context, 'embedded', embedded)
    const shared = await compareOn(context, 'api', { settings, services })
    return {
      sections: [
        refusalSection('embedded store, counters in the process', alone),
        refusalSection('OpenSearch, counters in Redis', shared),
      ],
    }
  },
}

function refusalSection(stores: string, results: readonly Result[]): Section {
  const [title, suffix] = [`Refusals; ${stores}`, `, ${stores}`]
  return { title, results, base: 'bare', ratios: [RATIO], suffix, notes: [LEGEND] }
}

async function compareOn(
  context: BenchContext,
  name: string,
  { settings, services }: { settings: Settings; services: Services },
) {
  await using scope = new AsyncDisposableStack()
  const { connections, seconds } = context.options
  const access = await accessTo([ACCOUNT], services)
  const refusals = createRefusals(access.get(ACCOUNT)?.key ?? '', seconds)
  const api = scope.use(await startBenched(context, name, settings))
  const responses: RecordedResponse[] = []
  for (const [at, refusal] of refusals.entries()) {
    responses.push(await recordResponse(api.origin, refusal, `/${at}`))
  }
  const scratch = await openScratch('bench-answers')
  scope.defer(scratch.close)
  const file = join(scratch.path, 'answers.json')
  await writeFile(file, JSON.stringify(responses))
  const bare = scope.use(await startServer({ program: baselineFile('bare.mjs'), args: [file] }))

  const servers = Object.entries({ bare, api }).map(([name, server]) => {
    const client = scope.use(createLoadClient({ origins: [server.origin] }, connections))
    return { name, server, client }
  })
  const scenarios = refusals.map(({ name, requests }, at) => {
    const { path = '', body = '' } = responses[at] ?? {}
    const expectedBytes = Buffer.byteLength(body)
    const contenders = servers.map((server) => {
      const own = server.name === 'bare' ? { path, expectedBytes } : { expectedBytes }
      const expected = requests.map((one) => ({ ...one, ...own }))
      return loopContender(context, { ...server, requests: expected })
    })
    return { name, contenders }
  })
  const results = await race(scenarios, context)
  return results.map((result, at) => {
    const samples = Object.entries(result.samples).map(([contender, taken]) => {
      return [contender, taken.map((one) => withoutAllowed(one, refusals[at]?.allowed))]
    })
    return { ...result, samples: Object.fromEntries(samples) }
  })
}

/** Every kind of 401 and 429, for so many seconds of load; `key` is a valid one. */
export function createRefusals(key: string, seconds: number): Refusal[] {
  return [
    { name: '401 unknown key', requests: fromMany(1, generateApiKey) },
    { name: '401 malformed key', requests: fromMany(2, malformedKey) },
    {
      name: '429 empty bucket',
      requests: [request(429, key, '10.8.0.1')],
      // The full bucket at the start, and one token each second.
      allowed: { what: 'status 200', times: 1 + Math.ceil(seconds) },
    },
    {
      name: '429 blocked address',
      requests: [request(429, malformedKey(), '10.9.0.1')],
      // The failures at the start of each window.
      allowed: {
        what: 'status 401',
        times: MAX_FAILURES * (1 + Math.floor(seconds / WINDOW_SECONDS)),
      },
    },
  ]
}

/** A key without the last digit of its checksum. */
function malformedKey(): string {
  return generateApiKey().slice(0, -1)
}

function fromMany(network: number, credential: () => string): LoadRequest[] {
  return Array.from({ length: ADDRESSES }, (_, at) =>
    request(401, credential(), `10.${network}.${at >> 8}.${at & 255}`),
  )
}

function request(expectedStatus: number, credential: string, address: string): LoadRequest {
  const headers = { authorization: `Bearer ${credential}`, 'x-forwarded-for': address }
  return { method: 'GET', path: '/v1/orders?limit=20', headers, expectedStatus }
}

/** A response, for the bare route to return. */
interface RecordedResponse {
  path: string
  status: number
  headers: Record<string, string>
  body: string
}

/**
 * Repeats the request until the service rejects it: the bucket must be empty or the address
 * blocked.
 */
async function recordResponse(
  origin: string,
  { name, requests: [first] }: Refusal,
  path: string,
): Promise<RecordedResponse> {
  if (!first) throw new Error(`the refusal has no request: ${name}`)
  const { method, headers, expectedStatus } = first
  for (let times = 0; times <= MAX_FAILURES; times += 1) {
    const response = await fetchOnce(`${origin}${first.path}`, { method, headers })
    const body = await response.body.text()
    const status = response.statusCode
    if (status !== expectedStatus) continue
    const kept = Object.entries(response.headers).flatMap(([header, value]) =>
      typeof value === 'string' && !CONNECTION_HEADERS.includes(header) ? [[header, value]] : [],
    )
    return { path, status, headers: Object.fromEntries(kept), body }
  }
  throw new Error(`the service did not reject: ${name}`)
}

/** Removes failures that are right. More of them than allowed remain failures. */
export function withoutAllowed(sample: Sample, allowed: Refusal['allowed']): Sample {
  const isWrong = ([what, times]: [string, number]) =>
    what !== allowed?.what || times > allowed.times
  const failures = Object.fromEntries(Object.entries(sample.failures ?? {}).filter(isWrong))
  return { ...sample, failures }
}
