import type { Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { backoffMs } from '../../../lib/async/backoff.ts'
import { type Clock, monotonicClock } from '../../../lib/clock.ts'
import { createWorkerHandle, type WorkerExit, type WorkerHandle } from './worker-handle.ts'

/** Keeps a fixed number of workers running. */
export interface WorkerPool {
  /**
   * Resolves with the URL when all workers serve; then the pool replaces workers that exit.
   * @throws Error the first reported reason why a worker cannot serve
   */
  start(): Promise<string>
  serving(): readonly WorkerHandle[]
  /** Shuts all workers down gracefully. @throws Error when the exit code of one is not 0 */
  shutDown(): Promise<void>
  /** Kills all workers. */
  kill(): void
}

interface WorkerPoolOptions {
  size: number
  fork(): Worker
  logger: Logger
  /** Called when a worker exits without a shutdown. */
  onExit(worker: WorkerHandle): void
  clock?: Clock
}

/** Creates a pool of `size` workers; `fork` starts one. It forks none before `start()`. */
export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const { size, fork, logger, onExit, clock = monotonicClock } = options
  const workers = new Set<WorkerHandle>()
  const closing = new AbortController()
  const isClosing = () => closing.signal.aborted

  /** Runs one worker at a time and restarts it after each exit. */
  async function superviseSlot(
    onServing: (address: string) => void,
    onFailed: (error: Error) => void,
  ): Promise<void> {
    const pauseMs = createRestartBackoff()
    let hasServed = false

    /** Node throws some errors of a start, such as ENOMEM, and emits others. */
    async function forkWithRetries(): Promise<Worker | null> {
      while (!isClosing()) {
        try {
          return fork()
        } catch (err) {
          if (!hasServed) throw err
          const pause = pauseMs(0)
          logger.error({ err, pause_ms: pause }, 'a worker did not start: starting it again')
          await sleep(pause, undefined, { signal: closing.signal }).catch(() => {})
        }
      }
      return null
    }

    for (;;) {
      const forked = await forkWithRetries()
      if (forked === null) return
      const startedMs = clock()
      const worker = createWorkerHandle(forked, (address) => {
        hasServed = true
        onServing(address)
      })
      workers.add(worker)
      const exit = await worker.exited
      workers.delete(worker)
      if (isClosing()) return
      onExit(worker)
      if (!hasServed)
        return onFailed(new Error(exit.reason ?? `a worker exited ${describeExit(exit)}`))
      const pause = pauseMs(clock() - startedMs)
      logger.error(
        { worker: worker.pid, ...exit, pause_ms: pause },
        'a worker exited: restarting it',
      )
      await sleep(pause, undefined, { signal: closing.signal }).catch(() => {})
    }
  }

  return {
    async start() {
      const slots = Array.from({ length: size }, () => {
        return new Promise<string>((resolve, reject) =>
          superviseSlot(resolve, reject).catch(reject),
        )
      })
      const [address = ''] = await Promise.all(slots)
      return address
    },

    serving: () => [...workers].filter((worker) => worker.isServing()),

    async shutDown() {
      closing.abort()
      const stopping = [...workers]
      for (const worker of stopping) worker.shutDown()
      const exits = await Promise.all(stopping.map(({ exited }) => exited))
      const failed = exits.find(({ code }) => code !== 0)
      if (failed !== undefined) throw new Error(`a worker exited ${describeExit(failed)}`)
    },

    kill() {
      closing.abort()
      for (const worker of workers) worker.kill()
    },
  }
}

/** A worker that served this long was stable: its exit starts a new series. */
const STABLE_UPTIME_MS = 30_000

/** Returns the delay in milliseconds before a restart; it grows with each short-lived worker. */
export function createRestartBackoff(): (uptimeMs: number) => number {
  let shortLivedCount = 0
  return (uptimeMs) => {
    shortLivedCount = uptimeMs < STABLE_UPTIME_MS ? shortLivedCount + 1 : 1
    return backoffMs(shortLivedCount)
  }
}

function describeExit({ code, signal }: WorkerExit): string {
  return signal === null ? `with code ${code}` : `on ${signal}`
}
