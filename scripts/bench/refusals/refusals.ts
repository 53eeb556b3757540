import { generateApiKey } from '../../../src/auth/api-key.ts'
import { MAX_FAILURES, WINDOW_MS } from '../../../src/rate-limit/failure-window.ts'
import type { LoadRequest } from '../measuring/generator.ts'
import type { HeatResult, Sample } from '../measuring/race.ts'

/** A way to be refused. */
export interface Refusal {
  name: string
  requests: readonly LoadRequest[]
  /** What else may be answered, how often in so many seconds of load: the contract wants it. */
  allowed?: { what: string; times(seconds: number): number }
}

/** Behind a proxy: where the service is told who is calling. */
export const REFUSING = {
  TRUST_PROXY: '127.0.0.1/32',
  RATE_LIMIT_CAPACITY: '1',
  RATE_LIMIT_REFILL_PER_SECOND: '1',
} as const

/** An address is blocked after 30 refusals a minute: these take two million, before one of them is. */
const ADDRESSES = 65_536
const WINDOW_SECONDS = WINDOW_MS / 1000

/** Every kind of 401 and 429; `key` is a valid one. */
export function createRefusals(key: string): Refusal[] {
  const blocked = request(429, malformed(), '10.9.0.1')
  return [
    { name: '401 unknown key', requests: fromMany(1, generateApiKey) },
    { name: '401 malformed key', requests: fromMany(2, malformed) },
    {
      name: '429 empty bucket',
      requests: [request(429, key, '10.8.0.1')],
      // One before anybody asked, and one for each second.
      allowed: { what: 'status 200', times: (seconds) => 1 + Math.ceil(seconds) },
    },
    {
      name: '429 blocked address',
      requests: [blocked],
      // Those that begin a window anew.
      allowed: {
        what: 'status 401',
        times: (seconds) => MAX_FAILURES * (1 + Math.floor(seconds / WINDOW_SECONDS)),
      },
    },
  ]
}

/** Of the form of a key, but for its checksum's last digit, which is not there. */
function malformed(): string {
  return generateApiKey().slice(0, -1)
}

function fromMany(network: number, credential: () => string): LoadRequest[] {
  return Array.from({ length: ADDRESSES }, (_, at) =>
    request(401, credential(), `10.${network}.${at >> 8}.${at & 255}`),
  )
}

function request(expectedStatus: number, credential: string, address: string): LoadRequest {
  return {
    method: 'GET',
    path: '/v1/orders?limit=20',
    headers: { authorization: `Bearer ${credential}`, 'x-forwarded-for': address },
    expectedStatus,
  }
}

/** The result of a race without the failures that are right; too many of them are none of these. */
export function withoutAllowed(
  { name, samples }: HeatResult,
  allowed: Refusal['allowed'],
  seconds: number,
): HeatResult {
  const isWrong = ([what, times]: [string, number]) =>
    what !== allowed?.what || times > allowed.times(seconds)
  const checked = (sample: Sample): Sample => {
    const failures = Object.fromEntries(Object.entries(sample.failures).filter(isWrong))
    return { ...sample, failures }
  }
  const sides = Object.entries(samples).map(([side, taken]) => [side, taken.map(checked)])
  return { name, samples: Object.fromEntries(sides) }
}
