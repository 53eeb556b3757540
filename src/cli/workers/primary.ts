import cluster from 'node:cluster'
import Fastify from 'fastify'
import type { Config } from '../../config/config.ts'
import { seedDemo } from '../../demo/seed-demo.ts'
import { buildOperationsApp } from '../../http/operations/operations-app.ts'
import { listenOperations } from '../../http/operations/operations-port.ts'
import type { Health } from '../../http/operations/readiness.ts'
import { DRAINING } from '../../http/server/graceful-shutdown.ts'
import { listen } from '../../http/server/listen.ts'
import { openLog } from '../../observability/log.ts'
import { createAggregatedMetrics } from '../../observability/metrics/aggregated-metrics.ts'
import { openServices } from '../../services.ts'
import type { ProgramIo } from '../command-context.ts'
import { demoWelcome } from '../demo-welcome.ts'
import { assertIndexNotLost } from '../index-loss-check.ts'
import type { ServeOptions } from '../serve.ts'
import { closeOnSignal } from '../signals.ts'
import { aggregateHealth } from './aggregate-health.ts'
import { createWorkerPool } from './worker-pool.ts'

/** The program of a worker: a file beside this one, `.js` once it is built. */
const WORKER = import.meta.filename.replace(/primary(?=\.[jt]s$)/, 'worker')
/** A worker whose event loop turns has answered by then. */
const RESPONSE_TIMEOUT_MS = 1_000

/**
 * Serves with several processes. This one serves no request: it hands each new connection to the next worker, as
 * `node:cluster` does, replaces workers that end, and answers for all of them on the operations port.
 */
export async function serveCluster(
  config: Config,
  { demo }: ServeOptions,
  io: ProgramIo,
): Promise<void> {
  const logger = openLog(config, io.stderr)
  await assertCanListen(config)
  // What a first start makes is made here, before anybody else would; and it is kept open, since the last one
  // who closes a database, and the first who opens it again, keep others out for a moment.
  const services = await openServices(config)
  cluster.setupPrimary({ exec: WORKER, args: [] })
  const pool = createWorkerPool({
    size: config.workers,
    fork: () => cluster.fork(),
    logger,
    onExit: (worker) => metrics.onExit(worker),
  })
  const metrics = createAggregatedMetrics(config.workers, () =>
    pool.serving().map((worker) => {
      return { id: worker.id, snapshot: () => worker.request('metrics', RESPONSE_TIMEOUT_MS) }
    }),
  )
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
    // Told to stop while they were asked: that they are leaving is no outage.
    return isDraining ? DRAINING : aggregateHealth(config.workers, reported)
  }

  /** Who ended is replaced; who does not answer never will be, unless everything is started again. */
  async function isAlive() {
    const { serving, responsive } = await pingWorkers()
    return responsive.length === serving.length
  }

  const operations = buildOperationsApp(isReady, { registry: metrics }, isAlive)
  const close = () => Promise.all([operations.close(), services.close()])
  const closed = closeOnSignal(
    logger,
    async () => {
      isDraining = true
      process.once('exit', pool.kill) // At a second signal, or when it takes too long.
      await pool.shutDown()
      await close()
    },
    io,
  )

  try {
    await assertIndexNotLost(services)
    const demoKey = demo ? await seedDemo(services, Date.now()) : null
    const address = await pool.start()
    await listenOperations(operations, config, logger)
    if (demoKey !== null) io.stdout.write(`${demoWelcome(address, demoKey, Date.now())}\n`)
  } catch (error) {
    pool.kill()
    await close()
    throw error
  }
  await closed
}

/**
 * Whether the workers will be able to listen, who would each tell of it in words of their own.
 * @throws Error naming the setting when they will not
 */
async function assertCanListen({ host, port }: Pick<Config, 'host' | 'port'>): Promise<void> {
  const probe = Fastify({ logger: false })
  await listen(probe, host, port, 'PORT').finally(() => probe.close())
}
