import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import type { RunningService } from '../cli/command.ts'

export interface ClientCounts {
  /** The number of complete responses by status. */
  answers: Record<number, number>
  /** The number of responses that ended their connection. */
  closes: number
  /** Error codes of the requests without a response, or the error itself. */
  failures: string[]
}

export const createCounts = (): ClientCounts => ({ answers: {}, closes: 0, failures: [] })

/**
 * For a test that calls {@link expectAllSucceeded}. A service that gets no processor time for a
 * second sheds requests as documented, so the test runs again then, and only then.
 */
export const RETRY_WHEN_SHED = { retry: { count: 2, condition: /"shed":\{"event_loop"/ } }

/** Expects that every response had status 200. The error has the events of the service. */
export function expectAllSucceeded({ answers }: ClientCounts, { output }: RunningService): void {
  const lines = output().stderr.split('\n')
  const events = lines.filter((line) => !line.includes('"msg":"request"'))
  expect(Object.keys(answers), events.join('\n')).toEqual(['200'])
}

interface ClientOptions {
  url: string
  headers: Record<string, string>
  /** Called before a connection is opened, never while one is open. */
  mayConnect(): boolean
  /** Called before each further request on a connection. */
  mayContinue?(): boolean
  counts: ClientCounts
}

/**
 * Sends requests on one keep-alive connection, reconnects when the server closes it, and stops when
 * `mayConnect` returns false.
 */
export async function sendContinuously(options: ClientOptions): Promise<void> {
  const { url, headers, mayConnect, mayContinue = () => true, counts } = options
  while (mayConnect()) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    try {
      while ((await sendOnce(url, headers, agent, counts)) && mayContinue());
    } catch (error) {
      counts.failures.push(error instanceof Error && 'code' in error ? `${error.code}` : `${error}`)
    } finally {
      agent.destroy()
    }
  }
}

/** Returns whether the connection is reusable. */
async function sendOnce(
  url: string,
  headers: Record<string, string>,
  agent: Agent,
  counts: ClientCounts,
): Promise<boolean> {
  const sent = request(url, { agent, headers }).end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  const body = await text(answer)
  JSON.parse(body)
  const status = answer.statusCode ?? 0
  counts.answers[status] = (counts.answers[status] ?? 0) + 1
  const isLast = answer.headers.connection === 'close'
  if (isLast) counts.closes += 1
  return !isLast
}
