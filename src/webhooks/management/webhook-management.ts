import { readBacklog } from '../backlog.ts'
import type { DeliveryBacklog } from '../deliveries/delivery-store.ts'
import type { EndpointCounts } from '../endpoints/endpoint-store.ts'
import type { DispatcherStatus, WebhookStores } from '../webhook-stores.ts'
import { createDeliveryOperations, type DeliveryOperationsOptions } from './delivery-operations.ts'
import { createEndpointActions, type EndpointActionsOptions } from './endpoint-actions.ts'
import { createEndpointOperations, type EndpointOperationsOptions } from './endpoint-operations.ts'

export interface WebhookManagementOptions
  extends Omit<EndpointOperationsOptions, 'endpoints'>,
    Omit<EndpointActionsOptions, 'endpoints' | 'deliveries'>,
    Omit<DeliveryOperationsOptions, 'endpoints' | 'deliveries'> {
  webhooks: Pick<WebhookStores, 'endpoints' | 'deliveries' | 'events' | 'dispatcher'>
}

export interface WebhookStatus {
  /** `null`: none ever ran. */
  dispatcher: DispatcherStatus | null
  backlog: DeliveryBacklog
  endpoints: EndpointCounts
  /** Epoch milliseconds, when the backlog was read. */
  readAt: number
}

/** The management of webhooks, for commands and for the management API. */
export type WebhookManagement = ReturnType<typeof createWebhookManagement>

/** Combines the operations on endpoints and on deliveries. */
export function createWebhookManagement({ webhooks, ...options }: WebhookManagementOptions) {
  const { endpoints, deliveries } = webhooks
  return {
    ...createEndpointOperations({ ...options, endpoints }),
    ...createEndpointActions({ ...options, endpoints, deliveries }),
    ...createDeliveryOperations({ ...options, endpoints, deliveries }),

    /** The process that delivers. `waitMs`: how long to observe whether it is alive. */
    dispatcher: (waitMs: number): Promise<DispatcherStatus | null> => webhooks.dispatcher(waitMs),

    /** The state of the dispatcher, of its backlog and of the endpoints of all accounts. */
    async status(waitMs: number): Promise<WebhookStatus> {
      const readAt = options.clock()
      const [dispatcher, backlog, counts] = await Promise.all([
        webhooks.dispatcher(waitMs),
        readBacklog(webhooks, readAt),
        endpoints.counts(),
      ])
      return { dispatcher, backlog, endpoints: counts, readAt }
    },
  }
}
