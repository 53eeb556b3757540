import type { Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type Clock, monotonicClock } from '../../lib/clock.ts'
import { createMember, type End, type Member } from './member.ts'
import { createRestartPause } from './restart-pause.ts'

/** So many workers, whatever becomes of one of them. */
export interface Crew {
  /**
   * Resolves when all of them serve, with their URL; from then on, who ends is replaced.
   * @throws Error what the first one says that cannot serve
   */
  start(): Promise<string>
  serving(): readonly Member[]
  /** Lets everybody go, each as soon as nobody needs it. @throws Error when one did not end well */
  leave(): Promise<void>
  /** Ends all of them at once. */
  kill(): void
}

interface CrewOptions {
  size: number
  fork(): Worker
  logger: Logger
  /** Told of every one that ended by itself. */
  onEnded(member: Member): void
  clock?: Clock
}

export function createCrew(options: CrewOptions): Crew {
  const { size, fork, logger, onEnded, clock = monotonicClock } = options
  const members = new Set<Member>()
  const closing = new AbortController()
  const isClosing = () => closing.signal.aborted

  /** Has one worker run, and another one after it. */
  async function keepOne(
    onServing: (address: string) => void,
    onFailed: (error: Error) => void,
  ): Promise<void> {
    const pauseMs = createRestartPause()
    let hasServed = false
    while (!isClosing()) {
      const startedMs = clock()
      const member = createMember(fork(), (address) => {
        hasServed = true
        onServing(address)
      })
      members.add(member)
      const end = await member.ended
      members.delete(member)
      if (isClosing()) return
      onEnded(member)
      if (!hasServed) return onFailed(new Error(end.reason ?? `a worker ended ${told(end)}`))
      const pause = pauseMs(clock() - startedMs)
      logger.error({ worker: member.pid, ...end, pause_ms: pause }, 'a worker ended: replacing it')
      await sleep(pause, undefined, { signal: closing.signal }).catch(() => {})
    }
  }

  return {
    async start() {
      const places = Array.from({ length: size }, () => {
        return new Promise<string>((resolve, reject) => keepOne(resolve, reject).catch(reject))
      })
      const [address = ''] = await Promise.all(places)
      return address
    },

    serving: () => [...members].filter((member) => member.isServing()),

    async leave() {
      closing.abort()
      const leaving = [...members]
      for (const member of leaving) member.leave()
      const ends = await Promise.all(leaving.map(({ ended }) => ended))
      const failed = ends.find(({ code }) => code !== 0)
      if (failed !== undefined) throw new Error(`a worker ended ${told(failed)}`)
    },

    kill() {
      closing.abort()
      for (const member of members) member.kill()
    },
  }
}

function told({ code, signal }: End): string {
  return signal === null ? `with exit code ${code}` : `by ${signal}`
}
