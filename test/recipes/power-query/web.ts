import type { BlockingResponse } from '../blocking-fetch.ts'
import { Binary, MError, RecordValue, type Value } from './values.ts'

/** The statuses that Power Query retries itself, with a bounded `Retry-After`. */
const RETRIED = [408, 429, 503, 504, 509]
const RETRIES = 3
const MAX_WAIT_S = 120
const MIN_WAIT_S = 0.5
/** Power Query prompts for credentials on these; a query cannot handle them. */
const CREDENTIALS = [401, 403]
const OPTIONS = ['RelativePath', 'Query', 'Headers', 'ManualStatusHandling', 'IsRetry', 'Timeout']

interface Ways {
  fetch(url: string, headers: Record<string, string>): BlockingResponse
  sleep(ms: number): void
}

/**
 * `Web.Contents` as Microsoft documents it: how it builds the URL, and what it retries and rejects.
 * It serves a repeated request from its cache unless `IsRetry` is set.
 */
export function createWebContents({ fetch, sleep }: Ways) {
  const cached = new Map<string, BlockingResponse>()

  return (base: string, options: RecordValue): Binary => {
    for (const name of options.fields.keys()) {
      if (!OPTIONS.includes(name)) throw new MError('Expression.Error', `no option ${name}`)
    }
    const read = (name: string) => options.fields.get(name)?.() ?? null
    const url = new URL(`${base.replace(/\/$/, '')}/${read('RelativePath')}`)
    for (const [name, value] of textsOf(read('Query'))) url.searchParams.set(name, value)
    const headers = Object.fromEntries(textsOf(read('Headers')))
    const manual = (read('ManualStatusHandling') ?? []) as number[]

    const send = () => requireResponse(() => fetch(url.href, headers))
    const known = read('IsRetry') === true ? undefined : cached.get(url.href)
    let answer = known ?? send()
    for (let retry = 1; retry <= RETRIES && isRetried(answer, manual); retry += 1) {
      const retryAfter = Number(answer.headers['retry-after'] ?? 2 ** (retry - 1))
      sleep(Math.min(Math.max(retryAfter, MIN_WAIT_S), MAX_WAIT_S) * 1_000)
      answer = send()
    }
    cached.set(url.href, answer)
    const { status, body } = answer
    if (CREDENTIALS.includes(status)) {
      throw new MError('DataSource.Error', 'The credentials provided are invalid.')
    }
    if (status >= 400 && !manual.includes(status)) {
      throw new MError(
        'DataSource.Error',
        `Web.Contents failed to get contents from '${url}' (${status})`,
      )
    }
    return new Binary(body, RecordValue.of({ 'Response.Status': status }))
  }
}

/** @throws MError without a response */
function requireResponse(send: () => BlockingResponse): BlockingResponse {
  try {
    return send()
  } catch (error) {
    throw new MError('DataSource.Error', `the remote server cannot be reached: ${error}`)
  }
}

const isRetried = ({ status }: BlockingResponse, manual: readonly number[]) =>
  RETRIED.includes(status) && !manual.includes(status)

/** @throws MError when a field is not text, like Power Query */
function textsOf(record: Value): [string, string][] {
  if (!(record instanceof RecordValue)) return []
  return [...record.fields].map(([name, value]) => {
    const text = value()
    if (typeof text !== 'string') throw new MError('Expression.Error', `${name} must be a text`)
    return [name, text]
  })
}
