import { firstNode } from '../backend.ts'
import {
  type Behaviour,
  forward,
  type ReceivedRequest,
  reset,
  respondText,
  startServer,
} from './scripted-server.ts'

const WRITE = /\/_(doc|create|update|bulk)/
/** The responses to writes that have no effect. */
const WITHOUT_EFFECT = /version_conflict_engine_exception|"result":"noop"/

/**
 * Forwards requests to the cluster. As a primary does whose replica does not respond, it shows the
 * writes to one index and confirms none of them. A write without effect needs no replica.
 */
export async function startUnconfirmedWrites() {
  let unconfirmed: string | null = null

  const isUnconfirmed = ({ method, path }: ReceivedRequest) =>
    method !== 'GET' && WRITE.test(path) && path.includes(`-${unconfirmed}/_`)

  const primary: Behaviour = async (response, request) => {
    const { status, text } = await forward(firstNode(), request)
    const isLost = isUnconfirmed(request) && !WITHOUT_EFFECT.test(text)
    const respond = isLost ? reset : respondText(status, text)
    respond(response, request)
  }
  const { url, close } = await startServer([primary])
  return {
    url,
    close,
    /** Runs `work` while no write to the index, named without its prefix, is confirmed. */
    async during<T>(index: string, work: () => Promise<T>): Promise<T> {
      unconfirmed = index
      try {
        return await work()
      } finally {
        unconfirmed = null
      }
    },
  }
}
