import { request } from 'undici'
import { MAX_FAILURES } from '../../../src/rate-limit/failure-window.ts'
import type { Refusal } from './refusals.ts'

/** All that a caller is told, for a peer to tell the same. */
export interface Answer {
  path: string
  status: number
  headers: Record<string, string>
  body: string
}

/** Those that every server sends by itself. */
const OF_THE_CONNECTION = ['connection', 'keep-alive', 'date', 'content-length']

/** Asks until the service refuses as it should: a bucket has to be emptied, an address to be blocked. */
export async function recordAnswer(
  origin: string,
  { name, requests: [first] }: Refusal,
  path: string,
): Promise<Answer> {
  if (!first) throw new Error(`there is no request of ${name}`)
  const { method, headers, expectedStatus } = first
  const statuses: number[] = []
  for (let times = 0; times <= MAX_FAILURES; times += 1) {
    const answer = await request(`${origin}${first.path}`, { method, headers })
    const body = await answer.body.text()
    statuses.push(answer.statusCode)
    if (answer.statusCode === expectedStatus) {
      return { path, status: answer.statusCode, headers: told(answer.headers), body }
    }
  }
  throw new Error(`${name} was answered with ${[...new Set(statuses)]}`)
}

function told(headers: Readonly<Record<string, string | string[] | undefined>>) {
  const kept = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' && !OF_THE_CONNECTION.includes(name) ? [[name, value]] : [],
  )
  return Object.fromEntries(kept)
}
