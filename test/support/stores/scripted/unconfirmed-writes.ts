import { type Behaviour, proxyTo, type ReceivedRequest, startServer } from './scripted-server.ts'

const WRITE = /\/_(doc|create|update|bulk)/
/** The responses to writes that have no effect. */
const WITHOUT_EFFECT = /version_conflict_engine_exception|"result":"noop"/

/**
 * Forwards requests to the cluster. As a primary does whose replica does not respond, it shows the
 * writes to one index and confirms none of them. A write without effect needs no replica.
 */
export async function startUnconfirmedWrites() {
  const forward = proxyTo(process.env['OPENSEARCH_URL']?.split(',')[0] ?? '')
  let unconfirmed: string | null = null

  const isUnconfirmed = ({ method, path }: ReceivedRequest) =>
    method !== 'GET' && WRITE.test(path) && path.includes(`-${unconfirmed}/_`)

  const primary: Behaviour = async (response, request) => {
    if (!isUnconfirmed(request)) {
      await forward(response, request)
      return
    }
    // Holds the response back until it is known whether the write had an effect.
    const send = response.end.bind(response)
    response.end = () => response
    const text = await forward(response, request)
    if (WITHOUT_EFFECT.test(text)) send(text)
    else response.socket?.resetAndDestroy()
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
