import type { EventRecord } from '../../../../src/webhooks/events/event-record.ts'
import type { WebhookStores } from '../../../../src/webhooks/webhook-stores.ts'

/** Empty stores under test. */
export interface WebhookStoresUnderTest extends WebhookStores {
  /** Makes all writes visible to searches. */
  refresh(): Promise<void>
  /** Leaves event records for the dispatcher, as the writer does. */
  record(...records: readonly EventRecord[]): Promise<void>
  /** The event records that were not purged, oldest first. */
  storedRecords(): Promise<EventRecord[]>
  /** The same stores as another process sees them; closed together with these. */
  openAgain(): Promise<WebhookStores>
  close(): Promise<void>
}
