import { setTimeout as pause } from 'node:timers/promises'
import type { LastWrite } from '../../../indexing/writing/order-index.ts'
import { Unavailable } from '../../../lib/unavailable.ts'
import { type OpenSearch, tell } from '../client.ts'
import { type IndexNames, indexBehind } from '../names.ts'
import { BULK_ANSWER, type BulkItemAnswer, isTaken } from './bulk-answer.ts'
import { fitted } from './fitted.ts'
import {
  type BulkAddress,
  type BulkTarget,
  createKnownStates,
  type KnownStates,
} from './known-states.ts'
import type { Lease } from './lease.ts'

export interface BulkOptions {
  client: OpenSearch
  names: IndexNames
  lease: Lease
  /** For each request. */
  deadlineMs: number
  /** Told what is waited for. */
  onDelay(reason: string): void
  /** Ends the waiting. */
  signal?: AbortSignal | undefined
}

export interface BulkItem {
  orderId: string
  address: BulkAddress
  /** The document at the stamp of the request that it is sent in; absent to remove it, from the orders. */
  source?: (stamp: number) => string
}

export interface BulkSender {
  /**
   * Sends the items in their order and returns once every copy has them all. What OpenSearch has no room
   * for is sent again, with the stamp of then.
   * @throws Unavailable: nobody knows what was written; DocumentRefused
   */
  send(target: BulkTarget, items: readonly BulkItem[], states: KnownStates): Promise<void>
  /** The document that was written last of all; `null` before the first. */
  lastWrite(): LastWrite | null
}

/** Heads show nothing to anybody. */
const UNSTAMPED = 0
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 5_000
/** A full queue is empty again sooner; a full disk is not. */
const TOLD_PAUSE_MS = 800
const GIVE_UP_MS = 60_000

export function createBulkSender(options: BulkOptions): BulkSender {
  const { client, names, lease, deadlineMs, onDelay, signal } = options
  const heads = indexBehind(names.heads, 1)
  /** Of the indices that are not read nothing is known: a stamp alone is the condition there. */
  const unseen = createKnownStates()
  let lastWrite: LastWrite | null = null

  return {
    lastWrite: () => lastWrite,

    async send(target, items, states) {
      const endsAt = performance.now() + GIVE_UP_MS
      let pauseMs = FIRST_PAUSE_MS
      for (let waiting = items; waiting.length > 0; ) {
        const { sent, left, rejected } = await request(target, waiting, states)
        waiting = [...rejected, ...left]
        if (rejected.length < sent) pauseMs = FIRST_PAUSE_MS
        if (rejected.length === 0) continue
        if (performance.now() > endsAt) throw new Unavailable('OpenSearch has no room for a bulk')
        if (pauseMs === TOLD_PAUSE_MS) onDelay('OpenSearch has no room for a bulk; trying again')
        await pause(pauseMs, undefined, { signal }).catch(interrupted)
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
      }
    },
  }

  /** As many items as fit into one request, sent to every index that takes them. */
  async function request(target: BulkTarget, items: readonly BulkItem[], states: KnownStates) {
    const stamp = target === 'orders' ? await lease.nextStamp() : UNSTAMPED
    const [read = '', ...others] = target === 'orders' ? lease.targets() : [heads]
    const fitting = fitted(items, (item) => linesOf(states, target, item, stamp))
    const sent = items.slice(0, fitting.length)
    // The index that is read comes last: whatever it has the others have too, also when all ends here.
    let taken = sent
    for (const index of others) {
      const lines = taken.map((item) => linesOf(unseen, target, item, stamp))
      const answers = await post(index, lines)
      taken = taken.filter((item, at) => isTaken(item, answers[at]))
    }
    const answers = await post(
      read,
      others.length === 0 ? fitting : taken.map((item) => linesOf(states, target, item, stamp)),
    )
    const written = new Set(taken.filter((item, at) => isTaken(item, answers[at])))
    const last = taken.findLast((item) => item.source && written.has(item))
    const accountId = last?.address.routing
    if (accountId !== undefined) lastWrite = { accountId, stamp }
    return {
      sent: sent.length,
      left: items.slice(sent.length),
      rejected: sent.filter((item) => !written.has(item)),
    }
  }

  /** What became of each item, in their order. */
  async function post(index: string, lines: readonly string[]): Promise<BulkItemAnswer[]> {
    if (lines.length === 0) return []
    const alias = names.writeAlias(index, lease.epoch())
    const opaqueId = names.bulkMark(lease.epoch())
    const body = encoded(lines) as never
    const { items } = (await tell(deadlineMs, (options) =>
      client.bulk(
        { index: alias, require_alias: true, filter_path: BULK_ANSWER, body },
        { ...options, opaqueId },
      ),
    )) as { items?: BulkItemAnswer[] }
    if (items?.length === lines.length) return items
    throw new Unavailable('OpenSearch did not tell of every item')
  }
}

function linesOf(states: KnownStates, target: BulkTarget, item: BulkItem, stamp: number): string {
  const { address, source } = item
  if (source === undefined) return states.removing(address, stamp)
  return `${states.putting(target, address, stamp)}${source(stamp)}\n`
}

/** Without a text of all of it in between, which would be as large again. */
function encoded(lines: readonly string[]): Buffer {
  const body = Buffer.allocUnsafe(lines.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0))
  let end = 0
  for (const text of lines) end += body.write(text, end)
  return body
}

function interrupted(cause: unknown): never {
  throw new Error('interrupted while OpenSearch had no room', { cause })
}
