// The program of a worker; `primary.ts` starts it.
import cluster from 'node:cluster'
import { once } from 'node:events'
import { parseConfig } from '../../config.ts'
import { outliveReaders } from '../broken-pipe.ts'
import { createLeaving } from '../leave.ts'
import { addressOf, listen } from '../listen.ts'
import { openRequestLog } from '../log.ts'
import { openService } from '../service.ts'
import { closeAndExit } from '../signals.ts'
import type { Answers, Question, ToPrimary, ToWorker } from './messages.ts'

const { worker } = cluster
if (worker === undefined) throw new Error('set WORKERS, and serve')

outliveReaders()
const config = parseConfig(process.env)
const logger = openRequestLog(config)

/** Nothing is under way yet. */
let leave: () => void = () => process.exit(0)
let answers: { [Q in Question]?: () => Promise<Answers[Q]> } = {}

// A terminal, or npm, signals everybody; when to go is for the primary to say, who knows what has come.
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => {})

worker.on('disconnect', () => {
  if (worker.exitedAfterDisconnect) return
  worker.exitedAfterDisconnect = true // Node ends the process here otherwise, whatever is under way.
  logger.error('the primary is gone: closing')
  leave()
})

process.on('message', async (message: ToWorker) => {
  if (message.type === 'leave') return leave()
  const { id, question } = message
  try {
    const answer = await answers[question]?.()
    if (answer !== undefined) tell({ type: 'answer', id, answer })
  } catch (err) {
    logger.error({ err, question }, 'cannot answer the primary')
  }
})

try {
  const { app, metrics, isReady, close } = await openService(config, logger)
  const leaving = createLeaving(app.server, isReady)
  answers = {
    ping: async () => true,
    health: leaving.isReady,
    metrics: () => metrics.registry.getMetricsAsJSON(),
  }
  let isLeaving = false
  leave = () => {
    if (isLeaving) return
    isLeaving = true
    closeAndExit(logger, async () => {
      await leaving.leave()
      await close()
      await part()
    })
  }
  await listen(app, config.host, config.port, 'PORT')
  tell({ type: 'serving', address: addressOf(app) })
  await isReady() // So that the log tells at once what is amiss.
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error)
  tell({ type: 'failed', reason }, () => process.exit(1))
}

function tell(message: ToPrimary, done: () => void = () => {}): void {
  process.send?.(message, undefined, undefined, done)
}

/** What the primary handed over before it knew that this worker listens no more goes back to it, for another. */
async function part(): Promise<void> {
  if (!process.connected) return
  worker?.disconnect()
  await once(process, 'disconnect')
}
