import { createMutex } from '../../lib/async/mutex.ts'
import { type Clock, monotonicClock } from '../../lib/clock.ts'
import { MINUTE_MS } from '../../lib/durations.ts'
import { UsageError } from '../errors.ts'
import type { Order, WebhookEvent } from '../schema.ts'
import type { SyncState, SyncStore } from './sync-store.ts'

/**
 * How long an order that was removed is read again before a page saves it. Covers pages that were
 * requested before the removal, and a listing that shows it late.
 */
const RECHECK_MS = 10 * MINUTE_MS

/** `kept`: the API still has the order. `ignored`: the event is no removal. */
export type RemovalResult = 'removed' | 'kept' | 'ignored'

/** The order of now; `null` if the API has none. */
export type ReadOrder = (id: string) => Promise<Order | null>

interface StoreGuard {
  /** Pages, removals and the end of a run change the store one at a time. */
  runExclusive: ReturnType<typeof createMutex>
  /** Monotonic milliseconds by order id. */
  removedAt: Map<string, number>
}

const guards = new WeakMap<SyncStore, StoreGuard>()

function guardOf(store: SyncStore): StoreGuard {
  const guard = guards.get(store) ?? { runExclusive: createMutex(), removedAt: new Map() }
  guards.set(store, guard)
  return guard
}

/**
 * Runs `work` in its turn. An abort ends the wait at once, and the work never starts. Work that has
 * started is always awaited, because it changes the store.
 * @throws the signal's reason
 */
async function runInTurn<T>(
  { runExclusive }: StoreGuard,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted()
  return await new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(signal?.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    const start = async () => {
      signal?.removeEventListener('abort', onAbort)
      signal?.throwIfAborted()
      return await work()
    }
    runExclusive(start).then(resolve, reject)
  })
}

/** Changes the store while no page is saved and no order is removed. `work` reads no order. */
export function changeExclusively<T>(
  { store, signal }: Pick<RemovalDeps, 'store' | 'signal'>,
  work: () => Promise<T>,
): Promise<T> {
  return runInTurn(guardOf(store), signal, work)
}

/**
 * Deletes the order of an `order.removed` event, unless the API has it: a late or repeated event
 * must not delete an order that is back.
 * @throws UsageError for a store without `remove`; errors of `readOrder` and of the store; the
 *   signal's reason
 */
export async function applyRemoval(
  event: WebhookEvent,
  { store, readOrder, signal, clock = monotonicClock }: RemovalDeps,
): Promise<RemovalResult> {
  const { type, order_id: id } = event
  if (type !== 'order.removed' || id === null) return 'ignored'
  if (store.remove === undefined) {
    throw new UsageError(
      'Esta cópia não tem a função remove(id): sem ela, só a leitura completa tira pedidos da cópia.',
    )
  }
  const guard = guardOf(store)
  const { removedAt } = guard
  const receivedMs = clock() // Pages that were received earlier have their turn before this one.
  return await runInTurn(guard, signal, async () => {
    forgetOld(removedAt, receivedMs)
    // Read inside the lock: a page saved since then may hold an order that is back.
    if ((await readOrder(id)) !== null) return 'kept'
    removedAt.set(id, clock())
    await store.remove?.(id)
    return 'removed'
  })
}

export interface RemovalDeps {
  store: SyncStore
  readOrder: ReadOrder
  /** Ends the wait for the turn; `readOrder` has a signal of its own. */
  signal?: AbortSignal | undefined
  /** Monotonic milliseconds. */
  clock?: Clock
}

/**
 * Saves a page, each order once: the listing may return one twice, and the later version comes
 * last. Reads again each order that was removed lately, which the page may predate.
 */
export async function savePage(
  orders: readonly Order[],
  state: SyncState,
  { store, readOrder, signal, clock = monotonicClock }: RemovalDeps,
): Promise<void> {
  const guard = guardOf(store)
  const { removedAt } = guard
  const receivedMs = clock() // The wait for removals may take minutes, and does not renew the page.
  await runInTurn(guard, signal, async () => {
    forgetOld(removedAt, receivedMs)
    const current: Order[] = []
    const lastById = new Map(orders.map((order) => [order.id, order]))
    for (const order of lastById.values()) {
      const latest = removedAt.has(order.id) ? await readOrder(order.id) : order
      if (latest !== null) current.push(latest)
    }
    await store.save(current, state)
  })
}

function forgetOld(removedAt: Map<string, number>, nowMs: number): void {
  for (const [id, atMs] of removedAt) if (nowMs - atMs > RECHECK_MS) removedAt.delete(id)
}
