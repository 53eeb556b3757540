import cluster from 'node:cluster'
import Fastify from 'fastify'
import type { Config } from '../../config.ts'
import { prepareDemo } from '../../demo/prepare.ts'
import { createWorkersMetrics } from '../../metrics/workers.ts'
import { buildOperations } from '../../operations.ts'
import type { Health } from '../../readiness.ts'
import { openServices } from '../../services.ts'
import { demoWelcome } from '../demo-welcome.ts'
import { GONE } from '../leave.ts'
import { listen } from '../listen.ts'
import { openLog } from '../log.ts'
import { listenOperations } from '../operations-port.ts'
import { refuseLoss } from '../refuse-loss.ts'
import type { ServeOptions } from '../serve.ts'
import { closeOnSignal } from '../signals.ts'
import { createCrew } from './crew.ts'
import { healthTogether } from './health.ts'

/** The program of a worker: a file beside this one, `.js` once it is built. */
const WORKER = import.meta.filename.replace(/primary(?=\.[jt]s$)/, 'worker')
/** A worker whose event loop turns has answered by then. */
const ANSWER_MS = 1_000

/**
 * Serves with several processes. This one serves no request: it hands each new connection to the next worker, as
 * `node:cluster` does, replaces workers that end, and answers for all of them on the operations port.
 */
export async function serveTogether(config: Config, { demo }: ServeOptions): Promise<void> {
  const logger = openLog(config)
  await checkAddress(config)
  // What a first start makes is made here, before anybody else would; and it is kept open, since the last one
  // who closes a database, and the first who opens it again, keep others out for a moment.
  const services = await openServices(config)
  cluster.setupPrimary({ exec: WORKER, args: [] })
  const crew = createCrew({
    size: config.workers,
    fork: () => cluster.fork(),
    logger,
    onEnded: (member) => metrics.onEnded(member),
  })
  const metrics = createWorkersMetrics(config.workers, () =>
    crew.serving().map((member) => {
      return { id: member.id, measure: () => member.ask('metrics', ANSWER_MS) }
    }),
  )
  let isLeaving = false

  async function look() {
    const serving = crew.serving()
    const answers = await Promise.all(serving.map((member) => member.ask('ping', ANSWER_MS)))
    const awake = serving.filter((_member, at) => answers[at])
    return { serving, awake }
  }

  async function isReady(): Promise<Health> {
    if (isLeaving) return GONE
    const { awake } = await look()
    const asked = awake.map((member) => member.ask('health', config.searchDeadlineMs + ANSWER_MS))
    const healths = await Promise.all(asked)
    const told = healths.filter((health) => health !== undefined)
    // Told to stop while they were asked: that they are leaving is no outage.
    return isLeaving ? GONE : healthTogether(config.workers, told)
  }

  /** Who ended is replaced; who does not answer never will be, unless everything is started again. */
  async function isAlive() {
    const { serving, awake } = await look()
    return awake.length === serving.length
  }

  const operations = buildOperations(isReady, { registry: metrics }, isAlive)
  const close = () => Promise.all([operations.close(), services.close()])
  closeOnSignal(logger, async () => {
    isLeaving = true
    process.once('exit', crew.kill) // At a second signal, or when it takes too long.
    await crew.leave()
    await close()
  })

  try {
    await refuseLoss(services)
    const demoKey = demo ? await prepareDemo(services, Date.now()) : null
    const address = await crew.start()
    await listenOperations(operations, config, logger)
    if (demoKey !== null) console.log(demoWelcome(address, demoKey, Date.now()))
  } catch (error) {
    crew.kill()
    await close()
    throw error
  }
}

/**
 * Whether the workers will be able to listen, who would each tell of it in words of their own.
 * @throws Error naming the setting when they will not
 */
async function checkAddress({ host, port }: Pick<Config, 'host' | 'port'>): Promise<void> {
  const probe = Fastify({ logger: false })
  await listen(probe, host, port, 'PORT').finally(() => probe.close())
}
