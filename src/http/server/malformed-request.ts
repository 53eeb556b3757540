import type { ServerResponse } from 'node:http'
import { ApiError, renderError } from '../api-error.ts'
import { JSON_TYPE } from '../headers.ts'
import { newRequestId } from '../request-id.ts'

/** Receives each rejected request, for logs and metrics. */
export type OnMalformedRequest = (rejection: { requestId: string; reason: string }) => void

/** Creates the `400 invalid_request` for malformed HTTP, as a response or as raw bytes. */
export interface MalformedRequestResponder {
  respond(response: ServerResponse, reason: string): void
  rawResponse(reason: string): Buffer
}

/**
 * Creates the responder. It reports each response to `onMalformedRequest` with a new request id.
 */
export function createMalformedRequestResponder(
  onMalformedRequest: OnMalformedRequest,
): MalformedRequestResponder {
  const badRequest = (reason: string) => {
    const requestId = newRequestId()
    onMalformedRequest({ requestId, reason })
    const body = renderError(new ApiError('invalid_request'), requestId)
    const headers = {
      'Content-Type': JSON_TYPE,
      'Content-Length': Buffer.byteLength(body),
      'Request-Id': requestId,
      'Cache-Control': 'no-store',
      Connection: 'close',
    }
    return { headers, body }
  }

  return {
    respond(response, reason) {
      const { headers, body } = badRequest(reason)
      response.writeHead(400, headers).end(body)
    },
    rawResponse(reason) {
      const { headers, body } = badRequest(reason)
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
      return Buffer.from(`HTTP/1.1 400 Bad Request\r\n${lines.join('')}\r\n${body}`)
    },
  }
}
