import { flushCompileCache } from 'node:module'
import type { Config } from '../../config/config.ts'
import { seedDemo } from '../../demo/seed-demo.ts'
import { buildOperationsApp } from '../../http/operations/operations-app.ts'
import { listenOperations } from '../../http/operations/operations-port.ts'
import { createGracefulShutdown } from '../../http/server/graceful-shutdown.ts'
import { listen, serverUrl } from '../../http/server/listen.ts'
import { openRequestLog } from '../../observability/log.ts'
import type { ProgramIo } from '../command-context.ts'
import { closeOnSignal } from '../signals.ts'
import { assertUsable } from '../with-services.ts'
import { openApiServer, type ServeOptions } from './api-server.ts'
import { createSideServices } from './side-services.ts'
import { tuneHeap } from './tune-heap.ts'
import { warnOfPepper } from './warn-of-pepper.ts'

/** Serves until SIGTERM or SIGINT, then shuts down gracefully. */
export async function serve(given: Config, options: ServeOptions, io: ProgramIo): Promise<void> {
  const config = { ...given, logLevel: logLevelFor(given, options, io) }
  if (config.workers === 1) return serveSingle(config, options, io)
  const { serveCluster } = await import('./workers/primary.ts')
  return serveCluster(config, options, io)
}

/** The key of the demo stays on the screen: a terminal gets no line per request by default. */
function logLevelFor(
  { logLevel }: Pick<Config, 'logLevel'>,
  { demo }: ServeOptions,
  { env, stderr }: Pick<ProgramIo, 'env' | 'stderr'>,
): Config['logLevel'] {
  return demo && stderr.isTTY && !env['LOG_LEVEL'] ? 'warn' : logLevel
}

async function serveSingle(config: Config, { demo }: ServeOptions, io: ProgramIo): Promise<void> {
  tuneHeap(config)
  const logger = openRequestLog(config, io.stderr)
  const { app, services, metrics, tracing, isReady, ...service } = await openApiServer(
    config,
    logger,
  )
  const { registry } = metrics
  const sideServices = createSideServices(config, { services, logger, registry, tracing, demo })
  const shutdown = createGracefulShutdown(app.server, async () => {
    const { status, checks } = await isReady()
    return { status, checks: { ...checks, ...sideServices.checks() } }
  })
  const operations = buildOperationsApp(shutdown.isReady, metrics)
  const close = async () => {
    await sideServices.stop()
    await service.close()
    await operations.close()
  }
  const closed = closeOnSignal(
    logger,
    async () => {
      // At once: a client that reads slowly, and a call of the management API, take seconds each.
      await Promise.all([shutdown.drain().then(() => app.close()), sideServices.stop()])
      await close()
    },
    io,
  )

  try {
    await assertUsable(services)
    await warnOfPepper(services, logger)
    const demoKeys = demo ? await seedDemo(services, Date.now()) : null
    await listen(app, config.host, config.port, 'PORT')
    await sideServices.start() // Before readiness: a load balancer may then send it requests.
    await listenOperations(operations, config, logger)
    await isReady() // Logs failing checks at start.
    if (demoKeys !== null) {
      io.stdout.write(`${sideServices.welcome(serverUrl(app), demoKeys, Date.now())}\n`)
    }
    flushCompileCache() // A killed process would not save the cache of NODE_COMPILE_CACHE.
  } catch (error) {
    await close() // An open listener would keep the process alive.
    throw error
  }
  await closed
}
