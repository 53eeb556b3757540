import { Pool } from 'undici'
import type { Outcome, TrafficRequest } from './request.ts'

/** Sends requests with one connection per request in flight. */
export interface Sender {
  /** Reads the whole response; never throws. */
  send(request: Pick<TrafficRequest, 'path' | 'headers'>): Promise<Outcome>
  /** Sends a request and disconnects after `afterMs`, also in the middle of a response. */
  abandon(request: Pick<TrafficRequest, 'path' | 'headers'>, afterMs: number): Promise<void>
  close(): Promise<void>
}

/** `latestMs`: the timeout of a complete response. */
export function createSender(origin: string, latestMs: number): Sender {
  const pool = new Pool(origin, { headersTimeout: 0, bodyTimeout: 0 })

  async function getText(
    { path, headers }: Pick<TrafficRequest, 'path' | 'headers'>,
    signal: AbortSignal,
  ) {
    const response = await pool.request({ method: 'GET', path, headers, signal })
    return { ...response, text: await response.body.text() }
  }

  return {
    async send(request) {
      const startedAt = performance.now()
      const tooLate = AbortSignal.timeout(latestMs)
      try {
        const { statusCode: status, headers, text } = await getText(request, tooLate)
        const ms = performance.now() - startedAt
        return { status, headers, json: JSON.parse(text), ms }
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        const silence = tooLate.aborted ? 'hung' : 'broken'
        return { failure: silence, reason, ms: performance.now() - startedAt }
      }
    },

    async abandon(request, afterMs) {
      await getText(request, AbortSignal.timeout(afterMs)).catch(() => {})
    },

    close: () => pool.destroy(),
  }
}
