import { type EventRecord, lastSequence } from '../../webhooks/events/event-record.ts'
import { stateOf } from '../../webhooks/events/order-state.ts'
import type { Change } from '../projection/change.ts'
import { storedOrder } from './order-document.ts'
import type { StoredView, Subscribers } from './order-index.ts'
import type { Announced, OrderVersionRecord } from './version-record.ts'
import { isCurrentDigest, UNKNOWN_DIGEST, viewDigest } from './view-digest.ts'

/** What is announced of an order, with event records that its version record does not count yet. */
export interface AnnouncedOrder extends Announced {
  /** The accounts that had a view. */
  accountIds: readonly string[]
  /** Whether the version record alone has the state. */
  isRecorded: boolean
}

/**
 * The announced state of an order. After a crash, `events` are those beyond its version record,
 * oldest first: the newest one of a later version has the state. Pure.
 */
export function announcedOrder(
  { lastPaymentId: paymentOfChange }: Pick<Change, 'lastPaymentId'>,
  record: OrderVersionRecord | undefined,
  events: readonly EventRecord[],
): AnnouncedOrder {
  const last = events.at(-1)
  const sequence = last ? lastSequence(last) : (record?.announced?.sequence ?? 0)
  if (last !== undefined && last.version > (record?.version ?? 0)) {
    const { after: state, digests, accountIds, recordedAt } = last
    const lastPaymentId = state?.last_payment_id ?? null
    const tracked = { state, digests }
    return { sequence, recordedAt, lastPaymentId, accountIds, tracked, isRecorded: false }
  }
  const { accountIds = [], announced } = record ?? {}
  // An earlier release recorded no payment. To assume another one would invent an event.
  const lastPaymentId = record === undefined ? null : paymentOfChange
  const instant = last ? { recordedAt: last.recordedAt } : {}
  return { lastPaymentId, ...announced, ...instant, sequence, accountIds, isRecorded: true }
}

/**
 * The announced state completed from the stored views; `null` when nothing is missing. It must be
 * durable before a change overwrites these views: a crash in between would otherwise lose the
 * event. Pure.
 */
export function completeFromViews(
  announced: AnnouncedOrder,
  stored: readonly StoredView[],
  subscribers: Subscribers,
): Announced | null {
  const { lastPaymentId, tracked, accountIds, isRecorded } = announced
  if (subscribers.size === 0) return null
  if (!isRecorded) return null // The event record is durable too; an unknown digest is a change.
  const subscribed = accountIds.filter((accountId) => subscribers.has(accountId))
  const isMissing = (accountId: string) => !isCurrentDigest(tracked?.digests[accountId])
  if (!subscribed.some(isMissing)) return null
  const viewOf = new Map(stored.map((view) => [view.accountId, view]))
  const digests = subscribed.map((accountId) => {
    const digest = tracked?.digests[accountId]
    if (isCurrentDigest(digest)) return [accountId, digest]
    const view = viewOf.get(accountId)
    return [accountId, view ? viewDigest(storedOrder(view)) : UNKNOWN_DIGEST]
  })
  const state = tracked ? tracked.state : storedState(stored, lastPaymentId)
  return {
    ...lastEventOf(announced),
    lastPaymentId,
    tracked: { state, digests: Object.fromEntries(digests) },
  }
}

function storedState([view]: readonly StoredView[], lastPaymentId: string | null) {
  return view ? stateOf(storedOrder(view), lastPaymentId) : null
}

/** The sequence and the instant of the last event. */
export function lastEventOf({ sequence, recordedAt }: Announced): LastEvent {
  return recordedAt === undefined ? { sequence } : { sequence, recordedAt }
}

type LastEvent = Pick<Announced, 'sequence' | 'recordedAt'>
