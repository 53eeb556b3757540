import { createWebhookManagement } from '../../../src/webhooks/management/webhook-management.ts'
import type { Dispatching } from './dispatching.ts'

/** The commands for the endpoints and deliveries of a running dispatcher. */
export const managementOf = ({ stores, time }: Dispatching) =>
  createWebhookManagement({
    ...{ webhooks: stores, clock: time.clock, allow: [], retentionMs: 86_400_000 },
    orders: { get: async () => Buffer.from('{}') },
    secrets: () => [{ kid: 'k1', secret: Buffer.alloc(32) }],
  })
