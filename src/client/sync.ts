import { createHash } from 'node:crypto'
import { type Clock, wallClock } from '../lib/clock.ts'
import type { OrderCopy, Pass, SyncState } from './copy.ts'
import { ApiError, UsageError } from './errors.ts'
import { createListing, type OrderPage } from './listing.ts'
import { expectNoMassRemoval } from './mass-removal.ts'
import { later, nextPass } from './pass.ts'
import type { Transport } from './transport.ts'

export interface SyncOptions {
  store: OrderCopy
  /**
   * Only orders updated at this instant or later, which leaves out those without `updated_at`. Counts for the first
   * sync of a copy, which keeps it.
   */
  since?: string | Date
  /** What each walk reads again of the one before, in milliseconds; a minute unless told. */
  overlapMs?: number
  /**
   * How often everything is read again, to drop what is gone; milliseconds, a day unless told. 0: now, by the walk over
   * everything that was not finished, where there is one.
   */
  walkAllEveryMs?: number
  /**
   * Lets a walk over everything drop more than half of a copy of over 20 orders. Without it that is a
   * `MassRemovalError`: an index that was lost looks the same.
   */
  allowMassRemoval?: boolean
  /** The key is another one than last time, of the same account. */
  acceptNewKey?: boolean
  /** Orders a page, each of which is kept at once; 1 to 100, 100 unless told. */
  limit?: number
  /** After each page that is kept. */
  onPage?(progress: SyncProgress): void
  signal?: AbortSignal
  /** Epoch milliseconds. */
  clock?: Clock
}

export interface SyncProgress {
  kind: Pass['kind']
  /** Orders read in this walk so far, by this call. */
  received: number
  /** The greatest `updated_at` seen. */
  watermark: string | null
}

export interface SyncResult extends SyncProgress {
  /** Orders that are gone from the API and were dropped. */
  dropped: number
}

export interface Source {
  url: string
  apiKey: string
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** How often a walk may lose its cursor before that is an error. */
const RESTARTS = 3

/**
 * Brings a copy up to date (contract, "Intended use"): one walk of `updated_at_asc`, each page kept with the cursor
 * behind it, so that a process that dies goes on where it was. The first walk has no filter, so that orders without
 * `updated_at` are in it.
 * @throws OrdersError; what the store throws; the signal's reason. What was kept stays, and the next call goes on.
 */
export async function syncOrders(
  transport: Transport,
  source: Source,
  options: SyncOptions,
): Promise<SyncResult> {
  const { store } = options
  if (atWork.has(store)) {
    throw new UsageError(
      'Esta cópia já está sendo sincronizada: espere a outra chamada de sync acabar.',
    )
  }
  atWork.add(store)
  try {
    return await syncAlone(transport, source, options)
  } finally {
    atWork.delete(store)
  }
}

/** Two walks over one copy would each drop what only the other has seen. */
const atWork = new WeakSet<OrderCopy>()

async function syncAlone(
  transport: Transport,
  source: Source,
  options: SyncOptions,
): Promise<SyncResult> {
  const { overlapMs = MINUTE_MS, walkAllEveryMs = DAY_MS, clock = wallClock } = options
  refuseSpan('overlapMs', overlapMs, DAY_MS * 366)
  refuseSpan('walkAllEveryMs', walkAllEveryMs, Number.POSITIVE_INFINITY)
  const left = checked(await options.store.read(), source, options)
  // A walk that only lacked its end tells nothing of what changed since, so it is ended and another one made.
  const before =
    left.pass.reached === 'listed' ? await end(left, options) : { state: left, dropped: 0 }
  const pass = nextPass(before.state, { overlapMs, walkAllEveryMs, nowMs: clock() })
  const { state, received } = await walk(transport, { ...before.state, pass }, options)
  const after = await end(state, options)
  const { kind } = state.pass
  return { kind, received, watermark: state.watermark, dropped: before.dropped + after.dropped }
}

/** Keeps page after page, to the end of the listing. */
async function walk(
  transport: Transport,
  begun: SyncState,
  options: SyncOptions,
): Promise<{ state: SyncState; received: number }> {
  let state = begun
  let received = 0
  for (let restarts = 0; ; restarts++) {
    try {
      for await (const page of pagesOf(transport, state.pass, options)) {
        state = afterPage(state, page)
        await options.store.save(page.orders, state)
        received += page.orders.length
        options.onPage?.({ kind: state.pass.kind, received, watermark: state.watermark })
      }
      return { state, received }
    } catch (error) {
      if (!isLostCursor(error, state.pass) || restarts === RESTARTS) throw error
      // Kept before its first page: a sync after a crash must not continue with the old one, which the cursor may
      // be good for again.
      state = walkedAnew(state)
      await options.store.save([], state)
    }
  }
}

/** The walk from its beginning, by another number: what it has seen so far may be gone since. */
function walkedAnew(state: SyncState): SyncState {
  const { number } = state.pass
  const begun = { number: number + 1, received: 0, cursor: null, reached: 'listing' } as const
  return { ...state, pass: { ...state.pass, ...begun } }
}

/**
 * Drops what a walk over everything did not see, once it is all listed.
 * @throws MassRemovalError before anything is dropped
 */
async function end(
  state: SyncState,
  { store, allowMassRemoval = false, clock = wallClock }: SyncOptions,
): Promise<{ state: SyncState; dropped: number }> {
  const { kind, number, received } = state.pass
  if (kind === 'changes') return { state: await keepEnded(store, state), dropped: 0 }
  if (store.dropUnseen !== undefined && !allowMassRemoval) {
    await expectNoMassRemoval(store, state).catch(async (error) => {
      await store.save([], walkedAnew(state)) // The orders may be back by then.
      throw error
    })
  }
  const dropped = (await store.dropUnseen?.(number)) ?? 0
  const walkedAt = new Date(clock()).toISOString()
  const walked = { ...state, walkedAt, ...(received !== undefined && { walkedOrders: received }) }
  return { state: await keepEnded(store, walked), dropped }
}

async function keepEnded(store: OrderCopy, state: SyncState): Promise<SyncState> {
  const ended: SyncState = { ...state, pass: { ...state.pass, reached: 'done' } }
  await store.save([], ended)
  return ended
}

function pagesOf(
  transport: Transport,
  { updatedGte, cursor }: Pass,
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

function afterPage(state: SyncState, { orders, nextCursor }: OrderPage): SyncState {
  const watermark = orders.reduce(
    (greatest, { updated_at }) => later(greatest, updated_at),
    state.watermark,
  )
  const { pass } = state
  const reached = nextCursor === null ? 'listed' : 'listing'
  // The beginning of a walk that an earlier client began is not counted.
  const isCounted = pass.received !== undefined || pass.cursor === null
  const received = isCounted && { received: (pass.received ?? 0) + orders.length }
  return { ...state, watermark, pass: { ...pass, ...received, cursor: nextCursor, reached } }
}

/** The contract's own way out: the listing is begun again, and what it has seen comes once more. */
function isLostCursor(error: unknown, { cursor }: Pass): boolean {
  return error instanceof ApiError && error.param === 'cursor' && cursor !== null
}

/** What the copy was left in, or how a new one begins. @throws UsageError where it is the copy of something else */
function checked(
  state: SyncState | null,
  { url, apiKey }: Source,
  { since, acceptNewKey = false }: SyncOptions,
): SyncState {
  const source = { url, key: digest(apiKey) }
  if (state === null) return begun(source, since)
  if (state.version !== 1) {
    throw new UsageError(
      'Esta cópia foi escrita por uma versão mais nova do cliente: atualize o cliente, ou comece outra cópia.',
    )
  }
  if (state.source.url !== url) {
    throw new UsageError(
      `Esta cópia é dos pedidos de ${state.source.url}, e não de ${url}. Use outro destino para outra API.`,
    )
  }
  if (state.source.key !== source.key && !acceptNewKey) {
    throw new UsageError(
      'A chave não é a da última sincronização desta cópia. Se for uma chave nova da mesma conta, confirme com acceptNewKey (no comando: --accept-new-key); se for de outra conta, use outro destino.',
    )
  }
  return { ...state, source }
}

function begun(source: SyncState['source'], since: string | Date | undefined): SyncState {
  const pass = { number: 0, kind: 'all', updatedGte: null, cursor: null, reached: 'done' } as const
  const from = since === undefined ? null : new Date(since)
  if (from !== null && Number.isNaN(from.getTime())) {
    throw new UsageError(`since: "${since}" não é um instante. Exemplo: 2026-03-01T00:00:00-03:00.`)
  }
  const start = { since: from?.toISOString() ?? null, watermark: null, walkedAt: null }
  return { version: 1, source, ...start, pass }
}

/** @throws UsageError: a negative overlap would skip orders in silence */
function refuseSpan(name: string, ms: number, atMostMs: number): void {
  if (ms >= 0 && ms <= atMostMs) return
  throw new UsageError(`${name}: ${ms} não é um tempo em milissegundos, de 0 em diante.`)
}

/** Tells whether a key is the same, and nothing else of it. */
const digest = (apiKey: string) => createHash('sha256').update(apiKey).digest('hex').slice(0, 16)
