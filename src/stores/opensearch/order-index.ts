import { setTimeout as pause } from 'node:timers/promises'
import type { WriteMode } from '../../indexing/writing/decide.ts'
import { renderDocument } from '../../indexing/writing/document.ts'
import type {
  Head,
  OrderIndex,
  ViewKey,
  ViewWrite,
  WriterPurpose,
} from '../../indexing/writing/order-index.ts'
import { MAX_AHEAD_MS } from '../../indexing/writing/stamp-limit.ts'
import { backoffMs } from '../../lib/backoff.ts'
import type { Clock } from '../../lib/clock.ts'
import { createQueue } from '../../lib/queue.ts'
import { Unavailable } from '../../lib/unavailable.ts'
import { ask, type OpenSearch } from './client.ts'
import { type IndexNames, indexBehind } from './names.ts'
import { documentId, renderSource } from './order-source.ts'
import type { Prepare } from './prepare.ts'
import { acquireLease } from './writer/acquire-lease.ts'
import { type BulkItem, createBulkSender } from './writer/bulk.ts'
import { createFence } from './writer/fence.ts'
import { createKnownStates, type KnownStates } from './writer/known-states.ts'
import { leaseDocument } from './writer/lease-document.ts'
import { createOrderGate, type OrderWork } from './writer/order-gate.ts'
import { createStoreClock } from './writer/store-clock.ts'
import { createStored, headSource } from './writer/stored.ts'
import { readGreatestStamp } from './writer/stored-stamps.ts'

export interface OpenSearchOrderIndexOptions {
  client: OpenSearch
  names: IndexNames
  prepare: Pick<Prepare, 'orders'>
  leaseMs: number
  /** For each request of a bulk, the answer's body included. */
  deadlineMs: number
  /** Epoch milliseconds. */
  clock: Clock
  purpose: WriterPurpose
  /** Told why nothing is written for a while, in words for an operator. */
  onDelay(reason: string): void
  /** Ends the waiting, for another writer and for OpenSearch. */
  signal?: AbortSignal | undefined
}

const CLOSING_MS = 4_000
/** Longer than a cluster takes to do without a node that says nothing any more. */
const GIVE_UP_MS = 300_000

/**
 * Becomes the writer of the index, the only one until it is closed. The documents of one bulk at a time,
 * confirmed by all copies before the next ones are stamped and sent: a copy applies them in order, and a
 * refresh shows a beginning of them, so the order of stamps is the order in which changes become visible.
 * What shows nothing to anybody need not wait: while a bulk is sent the next one is decided, and the heads
 * of the one before are written.
 * @throws Unavailable, StampsAhead; ClockAhead; Error when OpenSearch refuses, or `signal` ends the waiting
 */
export async function openOpenSearchOrderIndex(
  options: OpenSearchOrderIndexOptions,
): Promise<OrderIndex> {
  const { client, names, prepare, leaseMs, deadlineMs, clock, purpose, onDelay, signal } = options
  await prepare.orders()
  const leaseDeadlineMs = Math.min(leaseMs, deadlineMs)
  const storeClock = createStoreClock(client, leaseDeadlineMs)
  const lease = await acquireLease({
    document: leaseDocument(client, names, leaseDeadlineMs),
    fence: createFence({ client, names, deadlineMs, onDelay }),
    leaseMs,
    clock,
    storeClock,
    greatestStamp: () => readGreatestStamp(client, names, deadlineMs),
    firstTarget: indexBehind(names.orders, 1),
    purpose,
    onRetargeted: () => retarget(),
    onDelay,
    signal,
  })
  const { send, lastWrite } = createBulkSender({
    client,
    names,
    lease,
    deadlineMs,
    onDelay,
    signal,
  })
  const ordersInTurn = createQueue()
  const gate = createOrderGate()
  const underWay = new Set<Promise<void>>()
  /** Whether something that was sent may still be on its way: also when its bulk was given up. */
  let isUnsettled = false
  let fences = 0

  /** Fences off what nobody knows the outcome of; between two bulks. */
  async function settle(): Promise<void> {
    if (!isUnsettled && !lease.isRetargeted()) return
    isUnsettled = false
    await unsettledIfItFails(() => lease.fence())
    fences++
  }

  async function unsettledIfItFails(sending: () => Promise<void>): Promise<void> {
    try {
      await sending()
    } catch (error) {
      isUnsettled = true
      throw error
    }
  }

  const sendHeads = (heads: readonly Head[], states: KnownStates) =>
    unsettledIfItFails(() => send('heads', heads.map(putHead), states))

  /** Sends the documents, unless something was fenced off since they were decided: then tells so. */
  const sendOrders = (
    items: readonly BulkItem[],
    states: KnownStates,
    decidedAt: number,
    mode: WriteMode,
  ) =>
    ordersInTurn(async () => {
      await settle()
      if (fences !== decidedAt) return false
      if (mode === 'live' && items.length > 0) await lease.recordStampedLive()
      await unsettledIfItFails(() => send('orders', items, states))
      return true
    })

  /** Tells whether it is written; else it has to be decided anew. */
  async function write(decide: Decide, mode: WriteMode, work: OrderWork): Promise<boolean> {
    const decidedAt = fences
    const states = createKnownStates()
    const stored = createStored({ client, names, states, deadlineMs })
    const { views, removals, heads } = await decide({
      async heads(orderIds) {
        await work.enter(orderIds)
        return stored.heads(orderIds)
      },
      strays: stored.strays,
      scan: stored.scan,
      views: stored.views,
    })
    const items = [...views.map(putView), ...removals.map(removeView)]
    if (!(await sendOrders(items, states, decidedAt, mode))) return false
    await sendHeads(heads, states)
    return true
  }

  /** Once a bulk is of unknown outcome it is fenced off, and decided anew on what it left. */
  async function untilWritten(decide: Decide, mode: WriteMode, work: OrderWork): Promise<void> {
    const endsAt = performance.now() + GIVE_UP_MS
    for (let tries = 1; ; tries++) {
      try {
        if (isUnsettled) await ordersInTurn(settle)
        while (!(await write(decide, mode, work))) {}
        return
      } catch (error) {
        if (!(error instanceof Unavailable) || performance.now() > endsAt) throw error
        onDelay(`${error.message}; trying again`)
      }
      await pause(backoffMs(tries), undefined, { signal }).catch(interrupted)
    }
  }

  /** Also while there is nothing to write: somebody waits for it. */
  function retarget(): void {
    ordersInTurn(settle).catch(({ message }: Error) => onDelay(`${message}; trying again`))
  }

  return {
    bulk(decide, mode = 'back-fill') {
      const work = gate.begin()
      const written = untilWritten(decide, mode, work).finally(() => {
        work.leave()
        underWay.delete(written)
      })
      underWay.add(written)
      return written
    },
    wasStampedLive: () => lease.wasStampedLive(),
    lastWrite,
    now: () => Math.min(clock(), storeClock.now() + MAX_AHEAD_MS),
    async close() {
      await Promise.allSettled(underWay)
      // Whoever waited for the writer's end finds what it wrote; else that is a second away.
      const refresh = { index: names.orders }
      const patienceMs = Math.min(deadlineMs, CLOSING_MS)
      await ask(patienceMs, (call) => client.indices.refresh(refresh, call)).catch(() => {})
      await lease.release().catch(() => {}) // Then it runs out.
    },
  }
}

function interrupted(cause: unknown): never {
  throw new Error('interrupted while OpenSearch took nothing', { cause })
}

type Decide = Parameters<OrderIndex['bulk']>[0]

const addressOf = (view: ViewKey) => ({ _id: documentId(view), routing: view.accountId })

function putView(view: ViewWrite): BulkItem {
  const source = (stamp: number) => renderSource(renderDocument(view, stamp))
  return { orderId: view.orderId, address: addressOf(view), source }
}

function removeView(view: ViewKey): BulkItem {
  return { orderId: view.orderId, address: addressOf(view) }
}

function putHead(head: Head): BulkItem {
  const { orderId } = head
  return { orderId, address: { _id: orderId }, source: () => JSON.stringify(headSource(head)) }
}
