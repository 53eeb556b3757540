import type { Services } from '../../../src/services.ts'
import { accountEvents } from '../../../src/webhooks/events/event-record.ts'
import { endpoint } from './endpoint.ts'

/** The stores of a writer whose events a test reads. */
export interface RecordingStores {
  services: Pick<Services, 'webhooks'>
  refresh(): Promise<void>
}

/** Creates an endpoint of each account. Writers that are opened later record events for them. */
export async function subscribe(
  { services, refresh }: RecordingStores,
  ...accountIds: readonly string[]
): Promise<void> {
  for (const accountId of accountIds) {
    const id = `we_${Buffer.from(accountId).toString('hex').padEnd(32, '0')}`
    await services.webhooks.endpoints.insert(endpoint({ id, accountId, startsAt: 0 }))
  }
  await refresh() // An endpoint becomes searchable at the next refresh.
}

/**
 * Every event that the feed has, by order and sequence, as `ord_1 2 order.paid acc_1` and its
 * change of the status.
 */
export async function recordedEvents({ services, refresh }: RecordingStores): Promise<string[]> {
  await refresh()
  const page = await services.webhooks.events.next(10_000)
  const events = (page?.records ?? []).flatMap(accountEvents)
  return events
    .map(({ orderId, sequence, type, accountId, change: { status } }) => {
      const moved = status === undefined ? '' : ` ${status[0] ?? 'new'} to ${status[1]}`
      return `${orderId} ${sequence} ${type} ${accountId}${moved}`
    })
    .sort((one, other) => one.localeCompare(other, 'en', { numeric: true }))
}
