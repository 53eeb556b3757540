import type { Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type Clock, monotonicClock } from '../../lib/clock.ts'
import { createRestartBackoff } from './restart-backoff.ts'
import { createWorkerHandle, type WorkerExit, type WorkerHandle } from './worker-handle.ts'

/** So many workers, whatever becomes of one of them. */
export interface WorkerPool {
  /**
   * Resolves when all of them serve, with their URL; from then on, who ends is replaced.
   * @throws Error what the first one says that cannot serve
   */
  start(): Promise<string>
  serving(): readonly WorkerHandle[]
  /** Lets everybody go, each as soon as nobody needs it. @throws Error when one did not end well */
  shutDown(): Promise<void>
  /** Ends all of them at once. */
  kill(): void
}

interface WorkerPoolOptions {
  size: number
  fork(): Worker
  logger: Logger
  /** Told of every one that ended by itself. */
  onExit(worker: WorkerHandle): void
  clock?: Clock
}

export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const { size, fork, logger, onExit, clock = monotonicClock } = options
  const workers = new Set<WorkerHandle>()
  const closing = new AbortController()
  const isClosing = () => closing.signal.aborted

  /** Has one worker run, and another one after it. */
  async function superviseSlot(
    onServing: (address: string) => void,
    onFailed: (error: Error) => void,
  ): Promise<void> {
    const pauseMs = createRestartBackoff()
    let hasServed = false
    while (!isClosing()) {
      const startedMs = clock()
      const worker = createWorkerHandle(fork(), (address) => {
        hasServed = true
        onServing(address)
      })
      workers.add(worker)
      const exit = await worker.exited
      workers.delete(worker)
      if (isClosing()) return
      onExit(worker)
      if (!hasServed)
        return onFailed(new Error(exit.reason ?? `a worker ended ${describeExit(exit)}`))
      const pause = pauseMs(clock() - startedMs)
      logger.error({ worker: worker.pid, ...exit, pause_ms: pause }, 'a worker ended: replacing it')
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

    serving: () => [...workers].filter((member) => member.isServing()),

    async shutDown() {
      closing.abort()
      const stopping = [...workers]
      for (const member of stopping) member.shutDown()
      const exits = await Promise.all(stopping.map(({ exited }) => exited))
      const failed = exits.find(({ code }) => code !== 0)
      if (failed !== undefined) throw new Error(`a worker ended ${describeExit(failed)}`)
    },

    kill() {
      closing.abort()
      for (const member of workers) member.kill()
    },
  }
}

function describeExit({ code, signal }: WorkerExit): string {
  return signal === null ? `with exit code ${code}` : `by ${signal}`
}
