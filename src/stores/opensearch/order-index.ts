import { setTimeout as pause } from 'node:timers/promises'
import { renderDocument } from '../../indexing/writing/document.ts'
import type {
  BulkWrites,
  Head,
  OrderIndex,
  ViewKey,
  ViewWrite,
  WriterPurpose,
} from '../../indexing/writing/order-index.ts'
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
import { createKnownStates } from './writer/known-states.ts'
import { leaseDocument } from './writer/lease-document.ts'
import { createStored, headSource } from './writer/stored.ts'

export interface OpenSearchOrderIndexOptions {
  client: OpenSearch
  names: IndexNames
  prepare: Prepare
  leaseMs: number
  /** For each request of a bulk, the answer's body included. */
  deadlineMs: number
  /** Epoch milliseconds. */
  clock: Clock
  purpose: WriterPurpose
  /** Told why nothing is written for a while, in words for an operator. */
  onDelay(reason: string): void
  /** Ends the waiting for another writer. */
  signal?: AbortSignal | undefined
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000
/** Longer than a cluster takes to do without a node that says nothing any more. */
const GIVE_UP_MS = 300_000

/**
 * Becomes the writer of the index, the only one until it is closed. One bulk at a time, confirmed by all
 * copies before the next one is stamped and sent: a copy applies them in order, and a refresh shows a
 * beginning of them, so the order of stamps is the order in which changes become visible.
 * @throws Unavailable; Error when OpenSearch refuses, or `signal` ends the waiting
 */
export async function openOpenSearchOrderIndex(
  options: OpenSearchOrderIndexOptions,
): Promise<OrderIndex> {
  const { client, names, prepare, leaseMs, deadlineMs, clock, purpose, onDelay, signal } = options
  await prepare()
  const lease = await acquireLease({
    document: leaseDocument(client, names, Math.min(leaseMs, deadlineMs)),
    fence: createFence({ client, names, deadlineMs, onDelay }),
    leaseMs,
    clock,
    firstTarget: indexBehind(names.orders, 1),
    purpose,
    onRetargeted: () => retarget(),
    onDelay,
    signal,
  })
  const states = createKnownStates()
  const { send, lastWrite } = createBulkSender({ client, names, lease, states, deadlineMs })
  const stored = createStored({ client, names, states, deadlineMs })
  const oneAtATime = createQueue()
  /** Whether what was sent last may still be on its way: also when its bulk was given up. */
  let isUnsettled = false

  async function write({ announcements, views, removals, heads }: BulkWrites): Promise<void> {
    await send('heads', announcements.map(putHead))
    await send('orders', [...views.map(putView), ...removals.map(removeView)])
    await send('heads', heads.map(putHead))
  }

  /** Once a bulk is of unknown outcome it is fenced off, and decided anew on what it left. */
  async function untilWritten(decide: Parameters<OrderIndex['bulk']>[0]): Promise<void> {
    const endsAt = performance.now() + GIVE_UP_MS
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        if (isUnsettled) await lease.fence()
        isUnsettled = false
        states.forget()
        const writes = await decide(stored)
        isUnsettled = true
        await write(writes)
        isUnsettled = false
        return
      } catch (error) {
        if (!(error instanceof Unavailable) || performance.now() > endsAt) throw error
        onDelay(`${error.message}; trying again`)
      }
      await pause(pauseMs)
    }
  }

  /** Also while there is nothing to write: somebody waits for it. */
  function retarget(): void {
    oneAtATime(async () => {
      if (lease.isRetargeted()) await lease.fence()
    }).catch(({ message }: Error) => onDelay(`${message}; trying again`))
  }

  return {
    bulk: (decide) => oneAtATime(() => untilWritten(decide)),
    lastWrite,
    close: () =>
      oneAtATime(async () => {
        // Whoever waited for the writer's end finds what it wrote; else that is a second away.
        const refresh = { index: names.orders }
        await ask(deadlineMs, (call) => client.indices.refresh(refresh, call)).catch(() => {})
        await lease.release().catch(() => {}) // Then it runs out.
      }),
  }
}

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
