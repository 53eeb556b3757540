import { announce } from '../../webhooks/events/announce.ts'
import {
  type EventRecord,
  lastSequence,
  type RecordedEvent,
} from '../../webhooks/events/event-record.ts'
import { type EventType, eventTypes } from '../../webhooks/events/event-types.ts'
import { type OrderState, stateOf } from '../../webhooks/events/order-state.ts'
import type { Change } from '../projection/change.ts'
import { type AnnouncedOrder, lastEventOf } from './announced-order.ts'
import type { Subscribers } from './order-index.ts'
import type { Announced, OrderVersionRecord, TrackedState } from './version-record.ts'
import { viewDigest } from './view-digest.ts'

/** The accounts with an endpoint that have the order before or after a change. */
function subscribedAccounts(
  { views }: Pick<Change, 'views'>,
  before: Pick<OrderVersionRecord, 'accountIds'>,
  subscribers: Subscribers,
): string[] {
  if (subscribers.size === 0) return []
  const accounts = new Set([...before.accountIds, ...views.map(({ accountId }) => accountId)])
  return [...accounts].filter((accountId) => subscribers.has(accountId))
}

export interface Announcement {
  announced: Announced
  /** `null` when nothing is announced to any account. */
  eventRecord: EventRecord | null
}

export interface AnnounceOptions {
  /** Accounts with a webhook endpoint. */
  subscribers: Subscribers
  /** Sets the state without an event, as a load of history does. */
  isSilent: boolean
  /** The writer's clock, epoch milliseconds. */
  nowMs: number
}

/** What a change announces, and the announced state after it. Pure. */
export function announceChange(
  change: Change,
  before: AnnouncedOrder,
  { subscribers, isSilent, nowMs }: AnnounceOptions,
): Announcement {
  const { lastPaymentId } = change
  const accounts = subscribedAccounts(change, before, subscribers)
  if (accounts.length === 0) {
    return { announced: { ...lastEventOf(before), lastPaymentId }, eventRecord: null }
  }
  const tracked = trackedState(change, subscribers)
  const events = isSilent
    ? []
    : numberEvents(before.sequence, accounts, (accountId) =>
        typesFor(accountId, before, tracked, change),
      )
  // A new payment that no event announces is part of the next change.
  const isAnnounced = isSilent || events.length > 0
  const state = isAnnounced ? tracked.state : (before.tracked ?? tracked).state
  const eventRecord: EventRecord = {
    orderId: change.orderId,
    version: change.version,
    // Deliveries are sorted by it, and a clock that was set back would send a later event first.
    recordedAt: Math.max(nowMs, before.recordedAt ?? nowMs),
    // Nothing is kept of an order that no account has.
    before: tracked.state === null ? null : (before.tracked?.state ?? null),
    after: tracked.state,
    accountIds: change.views.map(({ accountId }) => accountId),
    digests: tracked.digests,
    events,
  }
  const { recordedAt } = eventRecord
  const lastEvent =
    events.length > 0 ? { sequence: lastSequence(eventRecord), recordedAt } : lastEventOf(before)
  return {
    announced: { ...lastEvent, lastPaymentId, tracked: { ...tracked, state } },
    eventRecord: events.length > 0 ? eventRecord : null,
  }
}

function trackedState({ views, lastPaymentId }: Change, subscribers: Subscribers): TrackedState {
  const [first] = views
  const digests = views
    .filter(({ accountId }) => subscribers.has(accountId))
    .map(({ accountId, order }) => [accountId, viewDigest(order)])
  return {
    state: first ? stateOf(first.order, lastPaymentId) : null,
    digests: Object.fromEntries(digests),
  }
}

function typesFor(
  accountId: string,
  before: AnnouncedOrder,
  { state, digests }: TrackedState,
  { views }: Change,
): EventType[] {
  const had = before.accountIds.includes(accountId)
  const has = views.some((view) => view.accountId === accountId)
  if (state === null || !has) return had ? ['order.removed'] : []
  const stateBefore: OrderState | null = had ? (before.tracked?.state ?? null) : null
  const isViewChanged = digests[accountId] !== before.tracked?.digests[accountId]
  return announce(stateBefore, state, { isViewChanged })
}

/** One event for each type, in the order of `eventTypes`, for all accounts that it concerns. */
function numberEvents(
  lastSequence: number,
  accountIds: readonly string[],
  typesFor: (accountId: string) => EventType[],
): RecordedEvent[] {
  const typesOf = new Map(accountIds.map((accountId) => [accountId, typesFor(accountId)]))
  return eventTypes
    .map((type) => ({
      type,
      accountIds: accountIds.filter((accountId) => typesOf.get(accountId)?.includes(type)),
    }))
    .filter((event) => event.accountIds.length > 0)
    .map((event, at) => ({ sequence: lastSequence + at + 1, ...event }))
}
