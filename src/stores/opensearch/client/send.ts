import type { IncomingHttpHeaders } from 'node:http'
import { errors } from '@opensearch-project/opensearch'
import type { Dispatcher } from 'undici'

/** An answer with all of its body. */
export interface RawResponse {
  statusCode: number
  headers: IncomingHttpHeaders
  bytes: Buffer
}

/** Calls `end` to give an exchange up from outside; the returned function is called once it has ended. */
export type AbortRegistration = (end: (error: Error) => void) => () => void

/**
 * Sends a request and waits for all of its answer, from first to last within one deadline: as it comes
 * from the socket, without streams and signals, which cost more than the request itself.
 * @throws TimeoutError or ConnectionError of the client, or the error of the interruption
 */
export function send(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  deadlineMs: number,
  registerAbort: AbortRegistration,
): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined
    let failure: Error | undefined
    let statusCode = 0
    let headers: IncomingHttpHeaders = {}
    const chunks: Buffer[] = []

    /** Also before it is sent at all, where all sockets are in use. */
    function abort(error: Error): void {
      clearTimeout(timer)
      failure ??= error
      reject(failure)
      controller?.abort(failure)
    }
    const timer = setTimeout(() => {
      abort(new errors.TimeoutError(`no whole answer in ${deadlineMs} ms`, EMPTY_META))
    }, deadlineMs)
    const release = registerAbort(abort)
    if (failure !== undefined) {
      release()
      return
    }

    dispatcher.dispatch(request, {
      onRequestStart(started) {
        controller = started
        if (failure !== undefined) started.abort(failure)
      },
      onResponseStart(_controller, status, responseHeaders) {
        statusCode = status
        headers = responseHeaders
      },
      onResponseData(_controller, chunk) {
        chunks.push(chunk)
      },
      onResponseEnd() {
        clearTimeout(timer)
        release()
        const [first] = chunks
        const bytes = first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks)
        resolve({ statusCode, headers, bytes })
      },
      onResponseError(_controller, error) {
        clearTimeout(timer)
        release()
        reject(failure ?? new errors.ConnectionError(error.message))
      },
    })
  })
}

// The transport fills it in.
const EMPTY_META = {} as ConstructorParameters<typeof errors.TimeoutError>[1]
