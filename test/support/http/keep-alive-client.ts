import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'

export interface Tally {
  /** Whole answers by status. */
  answers: Record<number, number>
  /** Those that ended their connection. */
  closes: number
  /** What came in the place of an answer: the error's code, or what was short of it. */
  failures: string[]
}

export const emptyTally = (): Tally => ({ answers: {}, closes: 0, failures: [] })

interface ClientOptions {
  url: string
  headers: Record<string, string>
  /** Asked before a connection is opened; never while one is open. */
  mayConnect(): boolean
  /** Asked before each further request on a connection. */
  mayGoOn?(): boolean
  tally: Tally
}

/**
 * Asks again and again on one connection that it keeps, opens another when it is told to close, and ends when
 * it may not.
 */
export async function sendContinuously(options: ClientOptions): Promise<void> {
  const { url, headers, mayConnect, mayGoOn = () => true, tally } = options
  while (mayConnect()) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    try {
      while ((await sendOnce(url, headers, agent, tally)) && mayGoOn());
    } catch (error) {
      tally.failures.push(error instanceof Error && 'code' in error ? `${error.code}` : `${error}`)
    } finally {
      agent.destroy()
    }
  }
}

/** Whether the connection may be used again. */
async function sendOnce(
  url: string,
  headers: Record<string, string>,
  agent: Agent,
  tally: Tally,
): Promise<boolean> {
  const asking = request(url, { agent, headers }).end()
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  const body = await text(answer)
  JSON.parse(body)
  const status = answer.statusCode ?? 0
  tally.answers[status] = (tally.answers[status] ?? 0) + 1
  const isLast = answer.headers.connection === 'close'
  if (isLast) tally.closes += 1
  return !isLast
}
