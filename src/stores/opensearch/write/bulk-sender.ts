import { setTimeout as pause } from 'node:timers/promises'
import type { LastWrite } from '../../../indexing/writer/order-index.ts'
import { Unavailable } from '../../../lib/unavailable.ts'
import { type OpenSearch, write } from '../client/client.ts'
import { concreteIndex, type IndexNames } from '../index-names.ts'
import { BULK_FILTER_PATH, type BulkItemResponse, isAccepted } from './bulk-response.ts'
import { firstChunk } from './chunk-by-size.ts'
import type { Lease } from './lease.ts'
import {
  type BulkAddress,
  type BulkTarget,
  createOptimisticConcurrency,
  type OptimisticConcurrency,
} from './optimistic-concurrency.ts'

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
  source?: (writeTimestamp: number) => string
}

export interface BulkSender {
  /**
   * Sends the items in their order and returns once every copy has them all. What OpenSearch has no room
   * for is sent again, with the stamp of then.
   * @throws Unavailable: nobody knows what was written; DocumentRefused
   */
  send(target: BulkTarget, items: readonly BulkItem[], states: OptimisticConcurrency): Promise<void>
  /** The document that was written last of all; `null` before the first. */
  lastWrite(): LastWrite | null
}

/** Heads show nothing to anybody. */
const NO_WRITE_TIMESTAMP = 0
const FIRST_PAUSE_MS = 50
const MAX_PAUSE_MS = 5_000
/** A full queue is empty again sooner; a full disk is not. */
const LOGGED_PAUSE_MS = 800
const GIVE_UP_MS = 60_000

export function createBulkSender(options: BulkOptions): BulkSender {
  const { client, names, lease, deadlineMs, onDelay, signal } = options
  const versionRecords = concreteIndex(names.heads, 1)
  /** Of the indices that are not read nothing is known: a stamp alone is the condition there. */
  const unconditional = createOptimisticConcurrency()
  let lastWrite: LastWrite | null = null

  return {
    lastWrite: () => lastWrite,

    async send(target, items, states) {
      const endsAt = performance.now() + GIVE_UP_MS
      let pauseMs = FIRST_PAUSE_MS
      for (let pending = items; pending.length > 0; ) {
        const { sent, remaining, rejected } = await sendChunk(target, pending, states)
        pending = [...rejected, ...remaining]
        if (rejected.length < sent) pauseMs = FIRST_PAUSE_MS
        if (rejected.length === 0) continue
        if (performance.now() > endsAt) throw new Unavailable('OpenSearch has no room for a bulk')
        if (pauseMs === LOGGED_PAUSE_MS) onDelay('OpenSearch has no room for a bulk; trying again')
        await pause(pauseMs, undefined, { signal }).catch(throwInterrupted)
        pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)
      }
    },
  }

  /** As many items as fit into one request, sent to every index that takes them. */
  async function sendChunk(
    target: BulkTarget,
    items: readonly BulkItem[],
    states: OptimisticConcurrency,
  ) {
    const writeTimestamp =
      target === 'orders' ? await lease.nextWriteTimestamp() : NO_WRITE_TIMESTAMP
    const [live = '', ...others] = target === 'orders' ? lease.writeTargets() : [versionRecords]
    const chunk = firstChunk(items, (item) => actionLines(states, target, item, writeTimestamp))
    const sent = items.slice(0, chunk.length)
    // The index that is read comes last: whatever it has the others have too, also when all ends here.
    let accepted = sent
    for (const index of others) {
      const lines = accepted.map((item) => actionLines(unconditional, target, item, writeTimestamp))
      const responses = await post(index, lines)
      accepted = accepted.filter((item, at) => isAccepted(item, responses[at]))
    }
    const responses = await post(
      live,
      others.length === 0
        ? chunk
        : accepted.map((item) => actionLines(states, target, item, writeTimestamp)),
    )
    const written = new Set(accepted.filter((item, at) => isAccepted(item, responses[at])))
    const last = accepted.findLast((item) => item.source && written.has(item))
    const accountId = last?.address.routing
    if (accountId !== undefined) lastWrite = { accountId, writeTimestamp }
    return {
      sent: sent.length,
      remaining: items.slice(sent.length),
      rejected: sent.filter((item) => !written.has(item)),
    }
  }

  /** What became of each item, in their order. */
  async function post(index: string, lines: readonly string[]): Promise<BulkItemResponse[]> {
    if (lines.length === 0) return []
    const alias = names.writeAlias(index, lease.epoch())
    const opaqueId = names.opaqueId(lease.epoch())
    const body = encodeLines(lines) as never
    const { items } = (await write(deadlineMs, (options) =>
      client.bulk(
        { index: alias, require_alias: true, filter_path: BULK_FILTER_PATH, body },
        { ...options, opaqueId },
      ),
    )) as { items?: BulkItemResponse[] }
    if (items?.length === lines.length) return items
    throw new Unavailable('OpenSearch did not tell of every item')
  }
}

function actionLines(
  states: OptimisticConcurrency,
  target: BulkTarget,
  item: BulkItem,
  writeTimestamp: number,
): string {
  const { address, source } = item
  if (source === undefined) return states.tombstoneAction(address, writeTimestamp)
  return `${states.indexAction(target, address, writeTimestamp)}${source(writeTimestamp)}\n`
}

/** Without a text of all of it in between, which would be as large again. */
function encodeLines(lines: readonly string[]): Buffer {
  const body = Buffer.allocUnsafe(lines.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0))
  let end = 0
  for (const text of lines) end += body.write(text, end)
  return body
}

function throwInterrupted(cause: unknown): never {
  throw new Error('interrupted while OpenSearch had no room', { cause })
}
