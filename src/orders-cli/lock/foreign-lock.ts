import { setTimeout as pause } from 'node:timers/promises'
import { monotonicClock } from '../../lib/clock.ts'
import type { StatusLine } from '../../lib/status-line.ts'
import { CommandError } from '../errors.ts'
import { modifiedMs } from './lock-file.ts'

/** How often a waiting process reads the times of such locks. */
const WATCH_MS = 1_000

/** What a process needs that waits for a lock, from the context of its command. */
export interface Waiting {
  signal?: AbortSignal
  status?: Pick<StatusLine, 'printLine'>
}

/**
 * A lock of another process table, or of one without start times. Only its renewals show that its
 * process is alive.
 */
export interface ForeignLock {
  file: string
  /** What is known of its process, as the start of a sentence. */
  holder: string
  renewedMs: number
  expiresInMs: number
}

/** When a lock was renewed: `null` if it is gone, `unknown` if it is another user's. */
export const lastRenewal = (file: string): Promise<number | null | 'unknown'> =>
  modifiedMs(file).catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? null : 'unknown',
  )

/**
 * Waits until one of the locks expires or is gone. Without a lock of its own, so that of several
 * waiting processes none takes another for a holder.
 * @throws CommandError once a lock is renewed, because then its process is alive; an abort
 */
export async function watch(
  locks: ForeignLock[],
  busy: string,
  signal?: AbortSignal,
): Promise<void> {
  let leftMs = firstExpiryMs(locks)
  for (
    const untilMs = monotonicClock() + leftMs;
    leftMs >= 0;
    leftMs = untilMs - monotonicClock()
  ) {
    await pause(Math.min(leftMs + 1, WATCH_MS), undefined, { ...(signal && { signal }) })
    for (const { file, holder, renewedMs } of locks) {
      const latestMs = await lastRenewal(file)
      if (latestMs === null) return
      if (latestMs === renewedMs) continue
      throw new CommandError(`${busy} (${holder}: acaba de renovar ${file}.)`)
    }
  }
}

export function printWait(locks: ForeignLock[], status: Waiting['status']): void {
  const seconds = Math.ceil(firstExpiryMs(locks) / 1000)
  status?.printLine(
    `esperando até ${seconds} s: ${locks[0]?.file} é a trava de outro processo, máquina ou contêiner, ou deste antes de reiniciar.`,
  )
}

const firstExpiryMs = (locks: ForeignLock[]) =>
  Math.min(...locks.map(({ expiresInMs }) => expiresInMs))
