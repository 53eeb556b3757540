import type { Clock } from '../../lib/clock.ts'
import type { RetrySchedule } from '../deliveries/retry-schedule.ts'
import type { Sender } from '../sending/sender.ts'
import type { Signer } from '../sending/signature.ts'
import type { WebhookStores } from '../webhook-stores.ts'
import type { OrderViews } from './attempts.ts'
import type { DispatcherEvents } from './dispatcher-events.ts'
import type { DispatcherSettings } from './dispatcher-settings.ts'
import type { SendNotice } from './health/operator-notices.ts'

export interface DispatcherOptions {
  stores: Pick<WebhookStores, 'endpoints' | 'deliveries' | 'events' | 'acquireLease'>
  orders: OrderViews
  sender: Pick<Sender, 'send'>
  sign: Signer
  /** `null` without an `OPERATOR_WEBHOOK_URL`. */
  sendNotice: SendNotice | null
  schedule: RetrySchedule
  /** Epoch milliseconds. */
  clock: Clock
  monotonic: Clock
  events: DispatcherEvents
  settings: DispatcherSettings
  /** Of the service, for the user agent. */
  version: string
}
