import type { Clock } from '../../lib/clock.ts'
import type { StoredDelivery } from '../deliveries/delivery.ts'
import { planDeliveries } from '../deliveries/plan-deliveries.ts'
import type { EndpointDirectory } from '../endpoints/endpoint-directory.ts'
import type { WebhookStores } from '../webhook-stores.ts'
import { bufferCapacity, type Lane } from './lanes/lane.ts'
import type { Lanes } from './lanes/lanes.ts'

export interface FanOutOptions {
  stores: Pick<WebhookStores, 'events' | 'deliveries'>
  directory: Pick<EndpointDirectory, 'byId' | 'ofAccount'>
  lanes: Pick<Lanes, 'get' | 'of' | 'update'>
  /** Epoch milliseconds. Never steps back. */
  clock: Clock
  firstDelayMs: number
  /** The maximum number of event records of a transaction. */
  page: number
}

/**
 * Creates a function that turns the oldest event records into deliveries, and hands them to the
 * lanes. It returns false when no record is left. A call that throws Unavailable is repeated by the
 * next one.
 */
export function createFanOut(
  options: FanOutOptions,
): (refreshEndpoints: () => Promise<void>) => Promise<boolean> {
  const { stores, directory, lanes, clock } = options

  return async (refreshEndpoints) => {
    const page = await stores.events.next(options.page)
    if (page === null) return false
    // After the read: an event may be of an endpoint that was created while the read waited.
    await refreshEndpoints()
    const { deliveries, removals } = planDeliveries(page.records, {
      endpointsOf: directory.ofAccount,
      nowMs: clock(),
      firstDelayMs: options.firstDelayMs,
    })
    if (removals.length > 0) await stores.deliveries.forgetOrders(removals)
    for (const { accountId, orderId } of removals) {
      for (const { id } of directory.ofAccount(accountId)) lanes.get(id)?.queue.forget(orderId)
    }
    const endpointIds = new Set(deliveries.map(({ endpointId }) => endpointId))
    const readsBefore = new Map([...endpointIds].map((id) => [id, readsOf(id)]))
    const offerAll = (created: readonly (StoredDelivery | null)[]) => {
      const offered = new Set<Lane>()
      deliveries.forEach(({ endpointId }, index) => {
        const lane = offer(endpointId, created[index] ?? null, readsBefore.get(endpointId) ?? 0)
        if (lane !== null) offered.add(lane)
      })
      for (const lane of offered) lanes.update(lane)
    }
    const created = await page.fanOut(deliveries).catch((error) => {
      // It may be stored without a response. Then no page has these records again.
      offerAll([])
      throw error
    })
    offerAll(created)
    return true
  }

  function readsOf(endpointId: string): number {
    return lanes.get(endpointId)?.queue.reads() ?? 0
  }

  /** `null`: it may be in the store already, and an earlier dispatcher may have changed it. */
  function offer(
    endpointId: string,
    delivery: StoredDelivery | null,
    readsBefore: number,
  ): Lane | null {
    const endpoint = directory.byId(endpointId)
    if (endpoint === undefined || (delivery !== null && delivery.state !== 'pending')) return null
    const lane = lanes.of(endpoint)
    const nowMs = clock()
    const dueAt = delivery?.nextAt ?? nowMs
    const isInStore = delivery === null || dueAt > nowMs
    if (isInStore) lane.queue.readAt(dueAt)
    // Later deliveries of the page must wait for what is due in the store alone.
    lane.queue.advance(nowMs)
    if (!isInStore) lane.queue.offer(delivery, bufferCapacity(lane), readsBefore)
    return lane
  }
}
