import type { Socket } from 'node:net'
import type { buildConnector } from 'undici'
import { OversizedResponseError } from '../send-failure.ts'

/** Above 200 informational responses with full headers, which an attempt accepts. */
const MAX_RECEIVED_BYTES = 4 * 1_024 * 1_024

/**
 * Destroys a connection that receives more than this for one request. The parser counts no line
 * breaks before a response, and nothing of a reason, of blanks or of chunk extensions. A receiver
 * that never stops would take a whole processor.
 */
export function limitReceived(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...result) => {
      if (result[0] === null) limitSocket(result[1])
      callback(...result)
    })
}

function limitSocket(socket: Socket): void {
  let written = -1
  let readBefore = 0
  socket.on('readable', () => {
    const { bytesRead, bytesWritten } = socket
    // Only the next request writes.
    if (bytesWritten !== written) {
      written = bytesWritten
      readBefore = bytesRead
    }
    if (bytesRead - readBefore > MAX_RECEIVED_BYTES) socket.destroy(new OversizedResponseError())
  })
}
