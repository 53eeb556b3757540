// The entry point of a worker; `primary.ts` forks it.
import cluster from 'node:cluster'
import { once } from 'node:events'
import { parseConfig } from '../../../config/config.ts'
import { createGracefulShutdown } from '../../../http/server/graceful-shutdown.ts'
import { listen, serverUrl } from '../../../http/server/listen.ts'
import { errorText } from '../../../lib/errors/error-text.ts'
import { openRequestLog } from '../../../observability/log.ts'
import { handleOutputErrors } from '../../output.ts'
import { closeAndExit } from '../../signals.ts'
import { openApiServer } from '../api-server.ts'
import { tuneHeap } from '../tune-heap.ts'
import type { IpcRequest, IpcResponses, ToPrimary, ToWorker } from './ipc-messages.ts'

const { worker } = cluster
if (worker === undefined)
  throw new Error('this file runs as a worker only: set WORKERS and run "serve"')

handleOutputErrors()
const config = parseConfig(process.env)
const logger = openRequestLog(config, process.stderr)

/** Until the server listens, no request is in flight. */
let shutDown: () => void = () => process.exit(0)
let handlers: { [R in IpcRequest]?: () => Promise<IpcResponses[R]> } = {}

// A terminal or npm signals the whole process group, but the primary orders the shutdown: it still
// distributes accepted connections.
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => {})

worker.on('disconnect', () => {
  if (worker.exitedAfterDisconnect) return
  worker.exitedAfterDisconnect = true // Otherwise Node exits here, with requests in flight.
  logger.error('the primary process exited: closing')
  shutDown()
})

process.on('message', async (message: ToWorker) => {
  if (message.type === 'shutdown') return shutDown()
  const { id, request } = message
  try {
    const response = await handlers[request]?.()
    if (response !== undefined) sendToPrimary({ type: 'response', id, response })
  } catch (err) {
    logger.error({ err, request }, 'a request of the primary failed')
  }
})

try {
  tuneHeap(config)
  const { app, metrics, isReady, close } = await openApiServer(config, logger)
  const shutdown = createGracefulShutdown(app.server, isReady)
  handlers = {
    ping: async () => true,
    health: shutdown.isReady,
    metrics: () => metrics.registry.getMetricsAsJSON(),
  }
  let isShuttingDown = false
  shutDown = () => {
    if (isShuttingDown) return
    isShuttingDown = true
    void closeAndExit(logger, async () => {
      await shutdown.drain()
      await close()
      await disconnect()
    })
  }
  await listen(app, config.host, config.port, 'PORT')
  sendToPrimary({ type: 'serving', address: serverUrl(app) })
  await isReady() // Logs failing checks at start.
} catch (error) {
  const reason = errorText(error)
  sendToPrimary({ type: 'failed', reason }, () => process.exit(1))
}

function sendToPrimary(message: ToPrimary, done: () => void = () => {}): void {
  process.send?.(message, undefined, undefined, done)
}

/** Node returns connections that this worker no longer accepts to the primary. */
async function disconnect(): Promise<void> {
  if (!process.connected) return
  worker?.disconnect()
  await once(process, 'disconnect')
}
