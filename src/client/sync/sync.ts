import { type Clock, wallClock } from '../../lib/clock.ts'
import { DAY_MS, MINUTE_MS } from '../../lib/durations.ts'
import { ApiError, UsageError } from '../errors.ts'
import { findOrder } from '../get-order.ts'
import type { Transport } from '../http/transport.ts'
import { createListing, type OrderPage } from '../listing.ts'
import { assertDuration } from '../options.ts'
import { finishRun } from './finish-run.ts'
import { changeExclusively, savePage } from './removals.ts'
import { afterPage, beginRun, restarted } from './sync-run.ts'
import { confirmAccount, openState, type SyncSource } from './sync-source.ts'
import type { SyncRun, SyncState, SyncStore } from './sync-store.ts'

export interface SyncOptions {
  store: SyncStore
  /**
   * Only orders updated at this instant or later, which excludes those without `updated_at`. A text
   * is an instant as of a date filter, with its time zone. Applies to the first sync of a store,
   * which keeps it.
   */
  since?: string | Date
  /** How far each run goes back before the watermark; milliseconds, default one minute. */
  overlapMs?: number
  /**
   * How often a full sync reads everything and deletes orders that are gone; milliseconds, default
   * one day. 0: now, continuing an unfinished full sync.
   */
  fullSyncIntervalMs?: number
  /**
   * Lets a full sync delete more than half of a store of over 20 orders. Without it the sync throws
   * `MassRemovalError`, because a lost index returns the same result.
   */
  allowMassRemoval?: boolean
  /** Accepts another key than the last one, of the same account; the sync is then a full one. */
  acceptNewKey?: boolean
  /** Orders per page, each saved at once; 1 to 100, default 100. Fewer after a timeout. */
  limit?: number
  /** Called after each saved page. */
  onPage?(progress: SyncProgress): void
  signal?: AbortSignal
  /** Epoch milliseconds. */
  clock?: Clock
}

export interface SyncProgress {
  kind: SyncRun['kind']
  /** Orders received by this call. */
  received: number
  /** The greatest `updated_at` so far. */
  watermark: string | null
}

export interface SyncResult extends SyncProgress {
  /** Orders that are gone from the API and were deleted from the store. */
  dropped: number
}

/** How often a run may lose its cursor before the sync fails. */
const MAX_RESTARTS = 3

/** Two runs over one store would each delete what only the other has seen. */
const syncing = new WeakSet<SyncStore>()

/**
 * Brings a store up to date by one run over `updated_at_asc` (guide, "Cópia em dia"). Each page is
 * saved with the cursor of the next, where a run after a crash continues. The first run has no
 * filter, so that it includes orders without `updated_at`.
 * @throws OrdersError; errors of the store; the signal's reason. Saved pages stay, and the next
 *   call continues.
 */
export async function syncOrders(
  transport: Transport,
  source: SyncSource,
  options: SyncOptions,
): Promise<SyncResult> {
  const { store } = options
  if (syncing.has(store)) {
    throw new UsageError(
      'Esta cópia já está sendo sincronizada: espere a outra chamada de sync acabar.',
    )
  }
  syncing.add(store)
  try {
    return await syncOnce(transport, source, options)
  } finally {
    syncing.delete(store)
  }
}

async function syncOnce(
  transport: Transport,
  source: SyncSource,
  options: SyncOptions,
): Promise<SyncResult> {
  const { store, overlapMs = MINUTE_MS, fullSyncIntervalMs = DAY_MS, clock = wallClock } = options
  assertDuration('overlapMs', overlapMs, { maxMs: DAY_MS * 366 }) // Below 0 it would skip orders.
  assertDuration('fullSyncIntervalMs', fullSyncIntervalMs)
  const finish = { store, allowMassRemoval: options.allowMassRemoval ?? false, nowMs: clock }
  const end = (run: SyncState) => changeExclusively(options, () => finishRun(run, finish))
  const saved = await store.read()
  const opened = openState(saved, source, options)
  const start = await confirmAccount(opened, saved, transport, options.signal)
  // An unfinished run whose pages are all saved brings no changes, so another run follows it.
  const before = start.pass.reached === 'listed' ? await end(start) : { state: start, dropped: 0 }
  const begun = beginRun(before.state, { overlapMs, fullSyncIntervalMs, nowMs: clock() })
  const { state, received } = await savePages(transport, begun, options)
  const after = await end(state)
  const { kind } = state.pass
  return { kind, received, watermark: state.watermark, dropped: before.dropped + after.dropped }
}

/** Saves page after page, to the end of the listing. */
async function savePages(
  transport: Transport,
  initial: SyncState,
  options: SyncOptions,
): Promise<{ state: SyncState; received: number }> {
  const { store, signal } = options
  const readOrder = (id: string) => findOrder(transport, id, signal)
  let state = initial
  let received = 0
  for (let restarts = 0; ; restarts++) {
    try {
      for await (const page of pagesOf(transport, state.pass, options)) {
        state = afterPage(state, page)
        await savePage(page.orders, state, { store, readOrder, signal })
        received += page.orders.length
        options.onPage?.({ kind: state.pass.kind, received, watermark: state.watermark })
      }
      return { state, received }
    } catch (error) {
      if (!isCursorRejected(error, state.pass) || restarts === MAX_RESTARTS) throw error
      // Saved before the first page: after a crash, a sync must not continue with the old run,
      // whose cursor the API may accept again.
      const begun = restarted(state)
      await changeExclusively(options, () => store.save([], begun))
      state = begun
    }
  }
}

function pagesOf(
  transport: Transport,
  { updatedGte, cursor }: SyncRun,
  { limit, signal }: SyncOptions,
): AsyncIterable<OrderPage> {
  const params = {
    sort: 'updated_at_asc',
    ...(limit !== undefined && { limit }),
    ...(updatedGte !== null && { updated_gte: updatedGte }),
    ...(cursor !== null && { cursor }),
  } as const
  return createListing(transport, params, signal).pages()
}

/** The guide's remedy for a rejected cursor is to start the listing again. */
function isCursorRejected(error: unknown, { cursor }: SyncRun): boolean {
  return error instanceof ApiError && error.param === 'cursor' && cursor !== null
}
