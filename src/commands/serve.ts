import { pino } from 'pino'
import { buildApp } from '../app.ts'
import type { Config } from '../config.ts'
import { prepareDemo } from '../demo/prepare.ts'
import { observedByBoth } from '../lib/observe.ts'
import { countServices } from '../metrics/count-services.ts'
import { watchProcess } from '../metrics/process.ts'
import { createMetrics } from '../metrics/serving.ts'
import { buildOperations } from '../operations.ts'
import { createReadiness } from '../readiness.ts'
import { openServerServices } from '../services.ts'
import { openTracing } from '../tracing/open-tracing.ts'
import { demoWelcome } from './demo-welcome.ts'
import { createLeaving } from './leave.ts'
import { addressOf, listen } from './listen.ts'
import { listenOperations } from './operations-port.ts'
import { closeOnSignal } from './signals.ts'

const STDERR = 2

/** Serves until a signal asks to stop; then finishes what is under way. */
export async function serve(config: Config, { demo }: { demo: boolean }): Promise<void> {
  const logger = pino({ level: config.logLevel }, pino.destination(STDERR))
  const metrics = createMetrics()
  watchProcess(metrics)
  const tracing = await openTracing(config.tracing, {
    onOutage: (reason) => logger.warn({ reason }, 'traces are not taken'),
    onRecovered: () => logger.info('traces are taken again'),
  })
  const counted = countServices(metrics)
  const services = await openServerServices(config, {
    ...counted,
    observeOpenSearch: observedByBoth(counted.observeOpenSearch, tracing?.observe('opensearch')),
    observeRedis: observedByBoth(counted.observeRedis, tracing?.observe('redis')),
    onDegraded: (err) =>
      logger.warn({ err }, 'Redis does not answer: limits count in this process'),
    onRecovered: () => logger.info('Redis answers again: limits are shared'),
  })
  const app = buildApp(config, services, { logger, metrics, tracing })
  const isReady = createReadiness(services, logger)
  const leaving = createLeaving(app.server, isReady)
  const operations = buildOperations(leaving.isReady, metrics)
  const close = async () => {
    await app.close()
    await Promise.all([tracing?.close(), operations.close()])
    await services.close()
  }
  closeOnSignal(logger, async () => {
    await leaving.leave()
    await close()
  })

  try {
    const demoKey = demo ? await prepareDemo(services, Date.now()) : null
    await listen(app, config.host, config.port, 'PORT')
    await listenOperations(operations, config, logger)
    await isReady() // So that the log tells at once what is amiss.
    if (demoKey !== null) console.log(demoWelcome(addressOf(app), demoKey, Date.now()))
  } catch (error) {
    await close() // What listens already would keep the process alive.
    throw error
  }
}
