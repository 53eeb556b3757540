// The program of a worker; `primary.ts` starts it.
import cluster from 'node:cluster'
import { once } from 'node:events'
import { parseConfig } from '../../config/config.ts'
import { createGracefulShutdown } from '../../http/server/graceful-shutdown.ts'
import { listen, serverUrl } from '../../http/server/listen.ts'
import { openRequestLog } from '../../observability/log.ts'
import { openApiServer } from '../api-server.ts'
import { ignoreEpipe } from '../ignore-epipe.ts'
import { closeAndExit } from '../signals.ts'
import type { IpcRequest, IpcResponses, ToPrimary, ToWorker } from './ipc-messages.ts'

const { worker } = cluster
if (worker === undefined) throw new Error('set WORKERS, and serve')

ignoreEpipe()
const config = parseConfig(process.env)
const logger = openRequestLog(config, process.stderr)

/** Nothing is under way yet. */
let shutDown: () => void = () => process.exit(0)
let handlers: { [Q in IpcRequest]?: () => Promise<IpcResponses[Q]> } = {}

// A terminal, or npm, signals everybody; when to go is for the primary to say, who knows what has come.
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => {})

worker.on('disconnect', () => {
  if (worker.exitedAfterDisconnect) return
  worker.exitedAfterDisconnect = true // Node ends the process here otherwise, whatever is under way.
  logger.error('the primary is gone: closing')
  shutDown()
})

process.on('message', async (message: ToWorker) => {
  if (message.type === 'leave') return shutDown()
  const { id, question } = message
  try {
    const response = await handlers[question]?.()
    if (response !== undefined) sendToPrimary({ type: 'answer', id, response })
  } catch (err) {
    logger.error({ err, question }, 'cannot answer the primary')
  }
})

try {
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
  await isReady() // So that the log tells at once what is amiss.
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error)
  sendToPrimary({ type: 'failed', reason }, () => process.exit(1))
}

function sendToPrimary(message: ToPrimary, done: () => void = () => {}): void {
  process.send?.(message, undefined, undefined, done)
}

/** What the primary handed over before it knew that this worker listens no more goes back to it, for another. */
async function disconnect(): Promise<void> {
  if (!process.connected) return
  worker?.disconnect()
  await once(process, 'disconnect')
}
