import type { IncomingHttpHeaders } from 'node:http'
import { errors } from '@opensearch-project/opensearch'
import type { Dispatcher } from 'undici'

/** An answer with all of its body. */
export interface WholeAnswer {
  statusCode: number
  headers: IncomingHttpHeaders
  bytes: Buffer
}

/**
 * Sends a request and waits for all of its answer, from first to last within one deadline: as it comes
 * from the socket, without streams and signals, which cost more than the request itself.
 * @throws TimeoutError, ConnectionError or RequestAbortedError of the client
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  deadlineMs: number,
  aborted?: AbortSignal,
): Promise<WholeAnswer> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined
    let failure: Error | undefined
    let statusCode = 0
    let headers: IncomingHttpHeaders = {}
    const chunks: Buffer[] = []

    /** Also before it is sent at all, where all sockets are in use. */
    function giveUp(error: Error): void {
      failure ??= error
      reject(failure)
      controller?.abort(failure)
    }
    const timer = setTimeout(() => {
      giveUp(new errors.TimeoutError(`no whole answer in ${deadlineMs} ms`, NO_META))
    }, deadlineMs)
    aborted?.addEventListener('abort', () => {
      clearTimeout(timer)
      giveUp(new errors.RequestAbortedError('aborted'))
    })

    dispatcher.dispatch(request, {
      onRequestStart(started) {
        controller = started
        if (failure !== undefined) started.abort(failure)
      },
      onResponseStart(_controller, status, told) {
        statusCode = status
        headers = told
      },
      onResponseData(_controller, chunk) {
        chunks.push(chunk)
      },
      onResponseEnd() {
        clearTimeout(timer)
        const [first] = chunks
        const bytes = first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks)
        resolve({ statusCode, headers, bytes })
      },
      onResponseError(_controller, error) {
        clearTimeout(timer)
        reject(failure ?? new errors.ConnectionError(error.message))
      },
    })
  })
}

// The transport fills it in.
const NO_META = {} as ConstructorParameters<typeof errors.TimeoutError>[1]
