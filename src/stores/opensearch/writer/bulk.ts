import { setTimeout as pause } from 'node:timers/promises'
import { DocumentRefused, type LastWrite } from '../../../indexing/writing/order-index.ts'
import { Unavailable } from '../../../lib/unavailable.ts'
import { type OpenSearch, tell } from '../client.ts'
import type { DocumentState } from '../documents.ts'
import type { IndexNames } from '../names.ts'
import type { BulkAddress, BulkTarget, KnownStates } from './known-states.ts'
import type { Lease } from './lease.ts'

export interface BulkOptions {
  client: OpenSearch
  names: IndexNames
  lease: Lease
  states: KnownStates
  /** For each request. */
  deadlineMs: number
}

export interface BulkItem {
  orderId: string
  address: BulkAddress
  /** The document at the stamp of the request that it is sent in; absent to remove it. */
  source?: (stamp: number) => string
}

export interface BulkSender {
  /**
   * Sends the items in their order and returns once every copy has them all. What OpenSearch has no room
   * for is sent again, with the stamp of then.
   * @throws Unavailable: nobody knows what was written; DocumentRefused
   */
  send(target: BulkTarget, items: readonly BulkItem[]): Promise<void>
  /** The document that was written last of all; `null` before the first. */
  lastWrite(): LastWrite | null
}

// Far below what a node takes in one request (100 MB); an item larger than this goes alone.
const MAX_REQUEST_CHARACTERS = 8 * 1024 * 1024
/** Heads show nothing to anybody. */
const UNSTAMPED = 0
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 5_000
const GIVE_UP_MS = 60_000

export function createBulkSender(options: BulkOptions): BulkSender {
  const { client, names, lease, states, deadlineMs } = options
  let lastWrite: LastWrite | null = null

  return {
    lastWrite: () => lastWrite,

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
    const { body, count } = fill(items.map((item) => () => render(target, item, stamp)))
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
    const isTaken = items.slice(0, count).map((item, at) => isWritten(target, item, answers[at]))
    const last = items.findLast(({ source }, at) => source && isTaken[at])
    const accountId = last?.address.routing
    if (accountId !== undefined) lastWrite = { accountId, stamp }
    return {
      sent: count,
      left: items.slice(count),
      rejected: items.slice(0, count).filter((_, at) => !isTaken[at]),
    }
  }

  function render(target: BulkTarget, { address, source }: BulkItem, stamp: number): string {
    if (source === undefined) return states.removing(target, address)
    return `${states.putting(target, address, stamp)}${source(stamp)}\n`
  }

  function isWritten(target: BulkTarget, item: BulkItem, answer?: Answer): boolean {
    const { address, source, orderId } = item
    const written = writtenState(orderId, answer)
    if (written === null) return false
    states.see(target, address._id, source === undefined ? null : written)
    return true
  }
}

function fill(items: readonly (() => string)[]): { body: string; count: number } {
  let body = ''
  let count = 0
  for (const render of items) {
    const lines = render()
    if (count > 0 && body.length + lines.length > MAX_REQUEST_CHARACTERS) break
    body += lines
    count++
  }
  return { body, count }
}

type Answer = Partial<Record<'index' | 'create' | 'delete', ItemAnswer>>
interface ItemAnswer {
  _id?: string
  status: number
  _seq_no?: number
  _primary_term?: number
  error?: { type: string; reason: string }
}

const NO_ROOM = 429
const CONFLICT = 409
const NO_ALIAS = 'index_not_found_exception'

/** The state that an item left its document in; `null` when it was turned away and has to be sent again. */
function writtenState(orderId: string, answer: Answer = {}): DocumentState | null {
  const { _id, status, error, ...state } = answer.index ??
    answer.create ??
    answer.delete ?? { status: 0 }
  const { _seq_no: if_seq_no, _primary_term: if_primary_term } = state
  if (error === undefined && if_seq_no !== undefined && if_primary_term !== undefined) {
    return { if_seq_no, if_primary_term }
  }
  if (status === NO_ROOM) return null
  const { type, reason } = error ?? { type: 'no answer', reason: '' }
  // A conflict: something else is there than what was seen, so it has to be looked at again.
  if (type === NO_ALIAS || status === CONFLICT || status >= 500 || error === undefined) {
    throw new Unavailable(`OpenSearch did not write ${_id}: ${type}: ${reason}`)
  }
  throw new DocumentRefused(orderId, `OpenSearch refused the document ${_id}: ${type}: ${reason}`)
}
