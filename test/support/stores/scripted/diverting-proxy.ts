import type { OpenSearchNode } from '../../../harness/services/opensearch/opensearch.ts'
import { type Behaviour, proxyTo, startServer } from './scripted-server.ts'

interface Diversion {
  /** Matches the path of the requests. */
  path: RegExp
  to: OpenSearchNode
  /** How many requests; 1 when absent. */
  times?: number
}

/** Forwards requests to one node, and those of a diversion to another. */
export async function startDivertingProxy(node: OpenSearchNode) {
  let diversion:
    | (Required<Diversion> & { onAnswer(answer: string): void; onRequest(): void })
    | undefined
  const behaviour: Behaviour = async (response, request) => {
    if (!diversion || diversion.times === 0 || !diversion.path.test(request.path)) {
      await proxyTo(node.url)(response, request)
      return
    }
    const { to, onAnswer, onRequest } = diversion
    diversion.times--
    onRequest()
    onAnswer(await proxyTo(to.url)(response, request))
  }
  const { url, close } = await startServer([behaviour])
  return {
    url,
    close,
    /** Resolves with the first request, and with the text of the response to it. */
    divert({ times = 1, ...options }: Diversion) {
      const { promise: answer, resolve: onAnswer } = Promise.withResolvers<string>()
      const { promise: requested, resolve: onRequest } = Promise.withResolvers<void>()
      diversion = { ...options, times, onAnswer, onRequest }
      return { requested, answer }
    },
  }
}
