import { setTimeout as pause } from 'node:timers/promises'
import {
  ApiError,
  ConnectionError,
  EdgeError,
  type SyncResult,
  UnexpectedAnswerError,
} from '../../client/client.ts'
import type { Context } from '../context.ts'
import { explain } from '../explain.ts'
import { summary } from './summary.ts'

export type Sync = (isFirst: boolean) => Promise<SyncResult & { changes: number }>

/**
 * Syncs again and again until it is interrupted. An outage of the API is told once, and waited out.
 * `tell`: is given a line each time something changed.
 * @throws what will not pass by itself, such as a key that was revoked
 */
export async function watch(
  sync: Sync,
  intervalMs: number,
  { signal, status }: Pick<Context, 'signal' | 'status'>,
  tell: (line: string) => Promise<unknown>,
): Promise<never> {
  let isSynced = false
  let isOut = false
  for (;;) {
    try {
      const result = await sync(!isSynced)
      if (isOut) status.printLine('A API voltou a responder.')
      if (!isSynced || result.changes > 0 || result.dropped > 0) {
        await tell(summary(result))
      }
      isSynced = true
      isOut = false
    } catch (error) {
      if (signal.aborted || !isOutage(error, isSynced)) throw error
      if (!isOut) {
        status.printLine(`${explain(error).message} Continuo tentando; aviso quando voltar.`)
      }
      isOut = true
    }
    await pause(intervalMs, undefined, { signal })
  }
}

/** Whether it may pass by itself. At an address that has not answered yet, somebody else's answer may not. */
function isOutage(error: unknown, isSynced: boolean): boolean {
  if (error instanceof ApiError || error instanceof EdgeError) {
    return error.status === 429 || error.status >= 500
  }
  if (error instanceof ConnectionError) return isSynced || !error.isFinal
  return error instanceof UnexpectedAnswerError && isSynced
}
