import type { Fault, ServerResponseStub } from '../support/http/fault-server.ts'

interface Refusal {
  title: string
  /** The edge's response; without one, the service responds. */
  answer?: ServerResponseStub
  /** Replaces the valid one. */
  key?: string
  /** Part of the message to the user. */
  says: string
}

/** Permanent errors: of the service, with a message, and of the edge, without one. */
export const refusals: readonly Refusal[] = [
  {
    title: 'a 401 for a key that is none',
    key: `key_live_${'a'.repeat(38)}`,
    says: 'Authorization: Bearer',
  },
  {
    title: 'a 403 of the firewall',
    answer: { status: 403, body: '<html>Forbidden</html>' },
    says: 'https://',
  },
  {
    title: 'a 400 for plain HTTP',
    answer: { status: 400, headers: { 'content-type': 'text/plain' }, body: 'use https' },
    says: 'https://',
  },
]

/** Temporary errors: a recipe retries and continues. */
export const passing: readonly { title: string; happening: Fault }[] = [
  { title: 'a 502 without a body', happening: { status: 502 } },
  {
    title: 'an answer that ends in the middle',
    happening: { status: 200, body: '{"object":"list","data":[' },
  },
  { title: 'a connection that is cut in an answer', happening: 'cut' },
  { title: 'a connection that is cut before one', happening: 'reset' },
]
