import cluster from 'node:cluster'
import Fastify from 'fastify'
import type { Config } from '../../../config/config.ts'
import { seedDemo } from '../../../demo/seed-demo.ts'
import { buildOperationsApp } from '../../../http/operations/operations-app.ts'
import { listenOperations } from '../../../http/operations/operations-port.ts'
import type { Health } from '../../../http/operations/readiness.ts'
import { DRAINING } from '../../../http/server/graceful-shutdown.ts'
import { listen } from '../../../http/server/listen.ts'
import { openLog } from '../../../observability/log.ts'
import { createAggregatedMetrics } from '../../../observability/metrics/aggregated-metrics.ts'
import { openServices } from '../../../services.ts'
import type { ProgramIo } from '../../command-context.ts'
import { openTracing } from '../../open-tracing.ts'
import { closeOnSignal } from '../../signals.ts'
import { assertUsable } from '../../with-services.ts'
import type { ServeOptions } from '../api-server.ts'
import { createSideServices } from '../side-services.ts'
import { warnOfPepper } from '../warn-of-pepper.ts'
import { aggregateHealth } from './aggregate-health.ts'
import { createWorkerPool } from './worker-pool.ts'

/** The entry point of a worker, in this folder; `.js` in the build. */
const WORKER = import.meta.filename.replace(/primary(?=\.[jt]s$)/, 'worker')
/** A worker that does not respond within this time has a blocked event loop. */
const RESPONSE_TIMEOUT_MS = 1_000

/**
 * Serves with several worker processes. `node:cluster` distributes the connections. The primary
 * serves no API request: it restarts workers and serves the operations port for all of them.
 */
export async function serveCluster(
  config: Config,
  { demo }: ServeOptions,
  io: ProgramIo,
): Promise<void> {
  const logger = openLog(config, io.stderr)
  await assertCanListen(config)
  const tracing = await openTracing(config, logger)
  // Initialise storage before forking workers. The primary keeps the database open, because the
  // last close and the first open of SQLite lock it briefly.
  const services = await openServices(config, 'server', (warning) => logger.warn(warning))
  cluster.setupPrimary({ exec: WORKER, args: [] })
  const pool = createWorkerPool({
    size: config.workers,
    fork: () => cluster.fork({ LOG_LEVEL: config.logLevel }),
    logger,
    onExit: (worker) => metrics.onExit(worker),
  })
  const metrics = createAggregatedMetrics(config.workers, () =>
    pool.serving().map((worker) => {
      return { id: worker.id, snapshot: () => worker.request('metrics', RESPONSE_TIMEOUT_MS) }
    }),
  )
  // The primary outlives its workers, and one process delivers.
  const sideServices = createSideServices(config, {
    services,
    logger,
    registry: metrics.registry,
    tracing,
    demo,
  })
  let isDraining = false

  async function pingWorkers() {
    const serving = pool.serving()
    const replies = await Promise.all(
      serving.map((worker) => worker.request('ping', RESPONSE_TIMEOUT_MS)),
    )
    const responsive = serving.filter((_worker, at) => replies[at])
    return { serving, responsive }
  }

  async function isReady(): Promise<Health> {
    if (isDraining) return DRAINING
    const { responsive } = await pingWorkers()
    const requests = responsive.map((worker) =>
      worker.request('health', config.searchDeadlineMs + RESPONSE_TIMEOUT_MS),
    )
    const healths = await Promise.all(requests)
    const reported = healths.filter((health) => health !== undefined)
    // A shutdown that began during the requests is not an outage.
    if (isDraining) return DRAINING
    const { status, checks } = aggregateHealth(config.workers, reported)
    return { status, checks: { ...checks, ...sideServices.checks() } }
  }

  /** The pool replaces workers that exit; only a restart replaces one that does not respond. */
  async function isAlive() {
    const { serving, responsive } = await pingWorkers()
    return responsive.length === serving.length
  }

  const operations = buildOperationsApp(isReady, { registry: metrics }, isAlive)
  const stopSideServices = async () => {
    await sideServices.stop()
    await tracing?.close()
  }
  const close = () => Promise.all([operations.close(), services.close()])
  const closed = closeOnSignal(
    logger,
    async () => {
      isDraining = true
      process.once('exit', pool.kill) // For a second signal or a timeout.
      await Promise.all([pool.shutDown(), stopSideServices()])
      await close()
    },
    io,
  )

  try {
    await assertUsable(services)
    await warnOfPepper(services, logger)
    const demoKeys = demo ? await seedDemo(services, Date.now()) : null
    const address = await pool.start()
    await sideServices.start() // Before readiness: a load balancer may then send it requests.
    await listenOperations(operations, config, logger)
    if (demoKeys !== null) {
      io.stdout.write(`${sideServices.welcome(address, demoKeys, Date.now())}\n`)
    }
  } catch (error) {
    pool.kill()
    await stopSideServices()
    await close()
    throw error
  }
  await closed
}

/**
 * Checks the port before forking, because otherwise each worker reports the same error.
 * @throws Error naming the setting when the port is not available
 */
async function assertCanListen({ host, port }: Pick<Config, 'host' | 'port'>): Promise<void> {
  const probe = Fastify({ logger: false })
  await listen(probe, host, port, 'PORT').finally(() => probe.close())
}
