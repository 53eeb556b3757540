import { setTimeout as pause } from 'node:timers/promises'
import { renderDocument } from '../../indexing/document.ts'
import type {
  BulkWrites,
  Head,
  OrderIndex,
  ViewKey,
  ViewWrite,
} from '../../indexing/order-index.ts'
import type { Clock } from '../../lib/clock.ts'
import { createQueue } from '../../lib/queue.ts'
import { Unavailable } from '../../lib/unavailable.ts'
import type { OpenSearch } from './client.ts'
import { type IndexNames, indexBehind } from './names.ts'
import { documentId, renderSource } from './order-source.ts'
import type { Prepare } from './prepare.ts'
import { acquireLease } from './writer/acquire-lease.ts'
import { type BulkItem, createBulkSender } from './writer/bulk.ts'
import { createFence } from './writer/fence.ts'
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
  /** Told why nothing is written for a while, in words for an operator. */
  onDelay(reason: string): void
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000
/** Longer than a cluster takes to do without a node that says nothing any more. */
const GIVE_UP_MS = 300_000

/**
 * Becomes the writer of the index, the only one until it is closed. One bulk at a time, confirmed by all
 * copies before the next one is stamped and sent: a copy applies them in order, and a refresh shows a
 * beginning of them, so the order of stamps is the order in which changes become visible.
 * @throws LeaseHeld when another writer is alive; Unavailable
 */
export async function openOpenSearchOrderIndex(
  options: OpenSearchOrderIndexOptions,
): Promise<OrderIndex> {
  const { client, names, prepare, leaseMs, deadlineMs, clock, onDelay } = options
  await prepare()
  const lease = await acquireLease({
    document: leaseDocument(client, names, leaseMs),
    fence: createFence(client, names, deadlineMs),
    leaseMs,
    clock,
    firstTarget: indexBehind(names.orders, 1),
    onDelay,
  })
  const { send } = createBulkSender({ client, names, lease, deadlineMs })
  const stored = createStored(client, names, deadlineMs)
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

  return {
    bulk: (decide) => oneAtATime(() => untilWritten(decide)),
    // A lease that cannot be handed back runs out.
    close: () => oneAtATime(() => lease.release().catch(() => {})),
  }
}

function putView(view: ViewWrite): BulkItem {
  return (stamp) => `${action('index', view)}${renderSource(renderDocument(view, stamp))}\n`
}

function removeView(view: ViewKey): BulkItem {
  return () => action('delete', view)
}

function action(name: 'index' | 'delete', view: ViewKey): string {
  return `${JSON.stringify({ [name]: { _id: documentId(view), routing: view.accountId } })}\n`
}

function putHead(head: Head): BulkItem {
  return () =>
    `${JSON.stringify({ index: { _id: head.orderId } })}\n${JSON.stringify(headSource(head))}\n`
}
