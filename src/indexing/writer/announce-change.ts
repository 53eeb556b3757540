import { hash } from 'node:crypto'
import { ORDER_SCHEMA_VERSION, type Order } from '../../orders/order.ts'
import { announce } from '../../webhooks/events/announce.ts'
import {
  type EventRecord,
  lastSequence,
  type RecordedEvent,
} from '../../webhooks/events/event-record.ts'
import { type EventType, eventTypes } from '../../webhooks/events/event-types.ts'
import { type OrderState, stateOf } from '../../webhooks/events/order-state.ts'
import type { Change } from '../projection/change.ts'
import { storedOrder, undatedJson } from './order-document.ts'
import type {
  Announced,
  OrderVersionRecord,
  StoredView,
  Subscribers,
  TrackedState,
} from './order-index.ts'

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

/**
 * The announced state completed from the stored views; `null` when nothing is missing. It must be
 * durable before a change overwrites these views: a crash in between would otherwise lose the event.
 * Pure.
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
  const isMissing = (accountId: string) => !isCurrent(tracked?.digests[accountId])
  if (!subscribed.some(isMissing)) return null
  const viewOf = new Map(stored.map((view) => [view.accountId, view]))
  const digests = subscribed.map((accountId) => {
    const digest = tracked?.digests[accountId]
    const view = viewOf.get(accountId)
    return [accountId, isCurrent(digest) ? digest : view ? digestOf(storedOrder(view)) : UNKNOWN]
  })
  const [anyView] = stored
  const state = tracked
    ? tracked.state
    : anyView
      ? stateOf(storedOrder(anyView), lastPaymentId)
      : null
  return {
    ...lastEventOf(announced),
    lastPaymentId,
    tracked: { state, digests: Object.fromEntries(digests) },
  }
}

/** The sequence and the instant of the last event. */
function lastEventOf({ sequence, recordedAt }: Announced): LastEvent {
  return recordedAt === undefined ? { sequence } : { sequence, recordedAt }
}

type LastEvent = Pick<Announced, 'sequence' | 'recordedAt'>

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
    .map(({ accountId, order }) => [accountId, digestOf(order)])
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

/** Of a view that cannot be parsed, so that the next version counts as a change. */
const UNKNOWN = `${ORDER_SCHEMA_VERSION}:unknown`
/** 96 bits: no accidental collision hides an update. */
const DIGEST_CHARACTERS = 16

/**
 * Starts with the schema version, because a new field changes the digest of an unchanged order. The
 * sequence of tracking keys is no content.
 */
function digestOf(order: Order): string {
  const { tracking } = order
  const sorted = tracking && Object.fromEntries(Object.entries(tracking).sort(byKey))
  const json = undatedJson(tracking ? { ...order, tracking: sorted } : order)
  const digest = hash('sha256', json, 'base64url').slice(0, DIGEST_CHARACTERS)
  return `${ORDER_SCHEMA_VERSION}:${digest}`
}

const byKey = ([one]: [string, string], [other]: [string, string]) => (one < other ? -1 : 1)

function isCurrent(digest: string | undefined): digest is string {
  return digest?.startsWith(`${ORDER_SCHEMA_VERSION}:`) ?? false
}
