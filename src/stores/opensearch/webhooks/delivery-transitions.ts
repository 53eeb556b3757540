import {
  type Delivery,
  type DeliveryState,
  FAILED_STATES,
  isReplayed,
  pendingAt,
  type Replay,
  withoutExcerpts,
} from '../../../webhooks/deliveries/delivery.ts'
import type { LatestInstants, Removal } from '../../../webhooks/deliveries/delivery-store.ts'
import type { MatchingDocuments } from '../client/bulk/write-matching.ts'
import { allOf, FIRST_EVENT_FIRST, LAST_EVENT_FIRST } from './delivery-position.ts'

/**
 * A change of every delivery that matches. It is sorted when the dispatcher may send meanwhile: a
 * search must not find a later event of an order alone.
 */
export interface DeliveryTransition extends MatchingDocuments {
  /** The changed delivery; `null` to leave it. Its document still matches the query. */
  apply(delivery: Delivery): Delivery | null
}

const term = (field: string, value: string | number) => ({ term: { [field]: value } })
const states = (...names: readonly DeliveryState[]) => ({ terms: { state: names } })
const anyOf = (should: readonly object[]) => ({ bool: { should } })

const canceled = (delivery: Delivery): Delivery => ({
  ...delivery,
  state: 'canceled',
  nextAt: null,
})

const atMost = (instant: number | null, latest: number) =>
  instant === null ? null : Math.min(instant, latest)

function latestNextAt(
  { nextAt, firstFailedAt }: Delivery,
  { unfailed, ...latest }: LatestInstants,
) {
  const isUnfailedLate = nextAt !== null && firstFailedAt === null && nextAt > unfailed.afterMs
  return isUnfailedLate ? unfailed.dueAt : atMost(nextAt, latest.nextAt)
}

const isOpen = ({ state }: Delivery) => state === 'pending' || state === 'held'

/** The transitions behind the methods of `DeliveryStore`, which describes them. Pure. */
export const transitions = {
  limitInstants: (latest: LatestInstants): DeliveryTransition => ({
    query: allOf(
      states('pending'),
      anyOf([
        { range: { next_at: { gt: latest.nextAt } } },
        { range: { first_failed_at: { gt: latest.firstFailedAt } } },
        {
          bool: {
            filter: { range: { next_at: { gt: latest.unfailed.afterMs } } },
            must_not: { exists: { field: 'first_failed_at' } },
          },
        },
      ]),
    ),
    apply: (delivery) => ({
      ...delivery,
      nextAt: latestNextAt(delivery, latest),
      firstFailedAt: atMost(delivery.firstFailedAt, latest.firstFailedAt),
    }),
  }),
  hold: (endpointId: string, nowMs: number): DeliveryTransition => ({
    query: allOf(term('endpoint_id', endpointId), states('pending')),
    sort: LAST_EVENT_FIRST,
    apply: (delivery) => ({ ...delivery, state: 'held', nextAt: null, heldAt: nowMs }),
  }),
  releaseHeld: (endpointId: string, nowMs: number): DeliveryTransition => ({
    query: allOf(term('endpoint_id', endpointId), states('held')),
    sort: FIRST_EVENT_FIRST,
    // An event of the same order that is fanned out later is due at the instant of its record.
    apply: (delivery) => ({
      ...delivery,
      ...pendingAt(Math.min(nowMs, delivery.event.recordedAt)),
    }),
  }),
  cancel: (endpointId: string): DeliveryTransition => ({
    query: allOf(term('endpoint_id', endpointId), states('pending', 'held')),
    apply: canceled,
  }),
  expireHeld: (beforeMs: number): DeliveryTransition => ({
    query: allOf(states('held'), { range: { held_at: { lt: beforeMs } } }),
    apply: (delivery) => ({ ...delivery, state: 'expired' }),
  }),
  replay: ({ endpointId, sinceMs, failedOnly, nowMs }: Replay): DeliveryTransition => ({
    query: allOf(
      term('endpoint_id', endpointId),
      states(...FAILED_STATES, ...(failedOnly ? [] : (['delivered'] as const))),
      // Instants of attempts are not indexed; few deliveries are `failed`.
      anyOf([
        { range: { recorded_at: { gte: sinceMs } } },
        { range: { first_failed_at: { gte: sinceMs } } },
        { range: { held_at: { gte: sinceMs } } },
        states('failed'),
      ]),
    ),
    sort: FIRST_EVENT_FIRST,
    apply: (delivery) =>
      isReplayed(delivery, { sinceMs, nowMs }) ? { ...delivery, ...pendingAt(nowMs) } : null,
  }),
  purgeExcerpts: (beforeMs: number): DeliveryTransition => ({
    query: { range: { excerpt_at: { lt: beforeMs } } },
    apply: (delivery) => ({
      ...delivery,
      attempts: withoutExcerpts(delivery.attempts, beforeMs),
    }),
  }),
  forgetOrders: (removals: readonly Removal[]): DeliveryTransition => ({
    query: anyOf(
      removals.map(({ accountId, orderId, sequence, recordedAt }) =>
        allOf(
          term('account_id', accountId),
          term('order_id', orderId),
          anyOf([
            { range: { recorded_at: { lt: recordedAt } } },
            allOf(term('recorded_at', recordedAt), { range: { sequence: { lt: sequence } } }),
          ]),
        ),
      ),
    ),
    apply: (delivery) => {
      const forgotten = {
        ...delivery,
        event: { ...delivery.event, change: {} },
        attempts: withoutExcerpts(delivery.attempts, Infinity),
      }
      return isOpen(delivery) ? canceled(forgotten) : forgotten
    },
  }),
} as const
