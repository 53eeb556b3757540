import { setTimeout as sleep } from 'node:timers/promises'
import type { ProxyUnderTest } from '../support/http/proxy.ts'

const CLIENTS = 8
const PAUSE_MS = 5

export interface LoadResponse {
  /** 0: no response or a partial one. */
  status: number
  body: string
}

/** A few clients that list orders page by page over persistent connections. */
export function startLoad(edge: ProxyUnderTest, key: string) {
  const headers = { authorization: `Bearer ${key}` }
  const answers: LoadResponse[] = []
  let isStopped = false

  async function client() {
    while (!isStopped) {
      const { status = 0, body } = await edge
        .call('/v1/orders?limit=5', { headers })
        .catch((error) => ({ status: 0, body: String(error) }))
      answers.push({ status, body })
      await sleep(PAUSE_MS)
    }
  }
  const clients = Array.from({ length: CLIENTS }, client)

  return {
    answers,
    async stop(): Promise<readonly LoadResponse[]> {
      isStopped = true
      await Promise.all(clients)
      return answers
    },
  }
}
