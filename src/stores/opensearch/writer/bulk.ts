import { setTimeout as pause } from 'node:timers/promises'
import { Unavailable } from '../../../lib/unavailable.ts'
import { type OpenSearch, tell } from '../client.ts'
import type { IndexNames } from '../names.ts'
import type { Lease } from './lease.ts'

export interface BulkOptions {
  client: OpenSearch
  names: IndexNames
  lease: Lease
  /** For each request. */
  deadlineMs: number
}

/** Where the items of a bulk go: what of the write aliases. */
export type BulkTarget = 'orders' | 'heads'

/** An item as its lines of a bulk request, at the stamp of the request that it is sent in. */
export type BulkItem = (stamp: number) => string

export interface BulkSender {
  /**
   * Sends the items in their order and returns once every copy has them all. What OpenSearch has no room
   * for is sent again, with the stamp of then.
   * @throws Unavailable: nobody knows what was written; Error naming a document that is refused
   */
  send(target: BulkTarget, items: readonly BulkItem[]): Promise<void>
}

// Far below what a node takes in one request (100 MB); an item larger than this goes alone.
const MAX_REQUEST_CHARACTERS = 8 * 1024 * 1024
/** Heads show nothing to anybody. */
const UNSTAMPED = 0
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 5_000
const GIVE_UP_MS = 60_000

export function createBulkSender({ client, names, lease, deadlineMs }: BulkOptions): BulkSender {
  return {
    async send(target, items) {
      const endsAt = performance.now() + GIVE_UP_MS
      let pauseMs = FIRST_PAUSE_MS
      for (let waiting = items; waiting.length > 0; ) {
        const { sent, left, rejected } = await request(target, waiting)
        waiting = [...rejected, ...left]
        if (rejected.length < sent) pauseMs = FIRST_PAUSE_MS
        if (rejected.length === 0) continue
        if (performance.now() > endsAt) throw new Unavailable('OpenSearch has no room for a bulk')
        await pause(pauseMs)
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
      }
    },
  }

  /** One request of as many items as fit. */
  async function request(target: BulkTarget, items: readonly BulkItem[]) {
    const stamp = target === 'orders' ? await lease.nextStamp() : UNSTAMPED
    const { body, count } = fill(items, stamp)
    const index = names.writeAliases(lease.epoch())[target]
    const opaqueId = names.bulkMark(lease.epoch())
    const answer = await tell(deadlineMs, (options) =>
      client.bulk(
        { index, require_alias: true, body: Buffer.from(body) as never },
        { ...options, opaqueId },
      ),
    )
    const answers = (answer as { items?: Answer[] }).items
    if (answers?.length !== count) throw new Unavailable('OpenSearch did not tell of every item')
    const sent = items.slice(0, count)
    return {
      sent: count,
      left: items.slice(count),
      rejected: sent.filter((_, at) => isRejected(answers[at])),
    }
  }
}

function fill(items: readonly BulkItem[], stamp: number): { body: string; count: number } {
  let body = ''
  let count = 0
  for (const item of items) {
    const lines = item(stamp)
    if (count > 0 && body.length + lines.length > MAX_REQUEST_CHARACTERS) break
    body += lines
    count++
  }
  return { body, count }
}

type Answer = Partial<Record<'index' | 'delete', ItemAnswer>>
interface ItemAnswer {
  _id?: string
  status: number
  error?: { type: string; reason: string }
}

const NO_ROOM = [429, 503]
const NO_ALIAS = 'index_not_found_exception'

/** Whether an item has to be sent again. @throws when sending it again would not help */
function isRejected(answer: Answer | undefined): boolean {
  const { _id, status, error } = answer?.index ?? answer?.delete ?? { status: 0 }
  if (error === undefined && status >= 200) return false // Also what was to be deleted and is not there.
  if (NO_ROOM.includes(status)) return true
  const { type, reason } = error ?? { type: 'no answer', reason: '' }
  if (type === NO_ALIAS || status >= 500 || status === 0) {
    throw new Unavailable(`OpenSearch did not write ${_id}: ${type}: ${reason}`)
  }
  throw new Error(`OpenSearch refused the document ${_id}: ${type}: ${reason}`)
}
