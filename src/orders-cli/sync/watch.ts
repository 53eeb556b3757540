import { setTimeout as pause } from 'node:timers/promises'
import {
  ApiError,
  ConnectionError,
  EdgeError,
  OrdersError,
  type SyncResult,
  UnexpectedResponseError,
} from '../../client/client.ts'
import { DAY_MS } from '../../lib/durations.ts'
import { explain, isDatabaseBusy } from '../errors.ts'
import { count } from '../terminal/format-text.ts'
import type { OrdersProgress } from '../terminal/progress.ts'

const LOCKED =
  'Outro programa mantém este banco travado: feche-o. Continuo tentando; aviso quando conseguir gravar.'
const UNLOCKED = 'O banco voltou a aceitar gravações.'
/** A longer pause would exceed the limit of a Node timer, and end at once. */
const MAX_PAUSE_MS = 7 * DAY_MS

export type Sync = (isFirst: boolean) => Promise<SyncResult & { changes: number }>

/**
 * Syncs at intervals until it is interrupted. An outage of the API, or another program's lock on
 * the database, is reported once. The sync is retried at the next interval, or after a longer
 * `Retry-After`. `print` receives a line per sync that changed something.
 * @throws permanent errors, such as a revoked key
 */
export async function watch(
  sync: Sync,
  intervalMs: number,
  {
    signal,
    progress,
    env,
  }: { signal: AbortSignal; progress: OrdersProgress; env?: NodeJS.ProcessEnv },
  print: (line: string) => Promise<unknown>,
): Promise<never> {
  let isSynced = false
  for (;;) {
    let pauseMs = intervalMs
    try {
      const result = await sync(!isSynced)
      progress.recover()
      if (!isSynced || result.changes > 0 || result.dropped > 0) {
        await print(summary(result))
      }
      isSynced = true
    } catch (error) {
      if (signal.aborted || !isTransient(error, isSynced)) throw error
      pauseMs = pauseAfter(error, intervalMs)
      if (isDatabaseBusy(error)) progress.fail(LOCKED, UNLOCKED)
      else {
        const { message } = explain(error, undefined, env)
        progress.fail(`${message} Continuo tentando; aviso quando voltar.`)
      }
    }
    await pause(pauseMs, undefined, { signal })
  }
}

/**
 * Milliseconds until the sync after a failed one. The client waits for a `Retry-After` itself,
 * except for one that exceeds its limit of a call.
 */
export function pauseAfter(error: unknown, intervalMs: number): number {
  const isResponse = error instanceof OrdersError && 'retryAfterSeconds' in error
  const retryAfterMs = isResponse ? Number(error.retryAfterSeconds) * 1000 : 0
  return Math.min(Math.max(intervalMs, retryAfterMs), MAX_PAUSE_MS)
}

/** Before the first sync, a foreign response is a wrong address. */
function isTransient(error: unknown, isSynced: boolean): boolean {
  if (isDatabaseBusy(error)) return true
  if (error instanceof ApiError || error instanceof EdgeError) {
    return error.status === 429 || error.status >= 500
  }
  if (error instanceof ConnectionError) return isSynced || !error.isFinal
  return error instanceof UnexpectedResponseError && isSynced
}

/** One line: 120 pedidos lidos (14 novos ou alterados), 3 removidos; cópia em dia até … */
export function summary({
  received,
  changes,
  dropped,
  watermark,
}: Pick<SyncResult, 'received' | 'dropped' | 'watermark'> & { changes: number }): string {
  const read = count(received, 'pedido lido', 'pedidos lidos')
  const changed = count(changes, 'novo ou alterado', 'novos ou alterados')
  const removed = count(dropped, 'removido')
  const until = watermark === null ? 'cópia em dia' : `cópia em dia até ${watermark}`
  return `${read} (${changed}), ${removed}; ${until}`
}
