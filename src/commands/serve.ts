import { flushCompileCache } from 'node:module'
import type { Config } from '../config.ts'
import { prepareDemo } from '../demo/prepare.ts'
import { buildOperations } from '../operations.ts'
import { demoWelcome } from './demo-welcome.ts'
import { createLeaving } from './leave.ts'
import { addressOf, listen } from './listen.ts'
import { openRequestLog } from './log.ts'
import { listenOperations } from './operations-port.ts'
import { refuseLoss } from './refuse-loss.ts'
import { openService } from './service.ts'
import { closeOnSignal } from './signals.ts'

export interface ServeOptions {
  demo: boolean
}

/** Serves until a signal asks to stop; then finishes what is under way. */
export async function serve(config: Config, options: ServeOptions): Promise<void> {
  if (config.workers === 1) return serveAlone(config, options)
  const { serveTogether } = await import('./workers/primary.ts')
  return serveTogether(config, options)
}

async function serveAlone(config: Config, { demo }: ServeOptions): Promise<void> {
  const logger = openRequestLog(config)
  const { app, services, metrics, isReady, ...service } = await openService(config, logger)
  const leaving = createLeaving(app.server, isReady)
  const operations = buildOperations(leaving.isReady, metrics)
  const close = async () => {
    await service.close()
    await operations.close()
  }
  closeOnSignal(logger, async () => {
    await leaving.leave()
    await close()
  })

  try {
    await refuseLoss(services)
    const demoKey = demo ? await prepareDemo(services, Date.now()) : null
    await listen(app, config.host, config.port, 'PORT')
    await listenOperations(operations, config, logger)
    await isReady() // So that the log tells at once what is amiss.
    if (demoKey !== null) console.log(demoWelcome(addressOf(app), demoKey, Date.now()))
    flushCompileCache() // Where NODE_COMPILE_CACHE names one: Node keeps it at a clean end only.
  } catch (error) {
    await close() // What listens already would keep the process alive.
    throw error
  }
}
