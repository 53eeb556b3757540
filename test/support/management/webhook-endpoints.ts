import { type DeliveryChanges, delivery } from '../webhooks/delivery.ts'
import type { ManagementApi } from './management-api.ts'

export const RECEIVER = 'https://receiver.example/hooks'

/** Creates an endpoint over HTTP. Returns the response. */
export async function createEndpoint(api: ManagementApi, accountId = 'acc_1', body: object = {}) {
  const path = `/accounts/${accountId}/webhook-endpoints`
  const { status, text, json } = await api.post(path, { url: RECEIVER, ...body })
  if (status !== 201) throw new Error(`POST ${path}: ${status} ${text}`)
  return json as { id: string; secret: string; account_id: string }
}

/** Stores deliveries of an endpoint. */
export async function storeDeliveries(
  api: ManagementApi,
  { id: endpointId, account_id: accountId }: { id: string; account_id: string },
  changes: readonly DeliveryChanges[],
) {
  const made = changes.map(({ event, ...rest }) =>
    delivery({ endpointId, accountId, ...rest, event: { accountId, ...event } }),
  )
  await api.services.webhooks.deliveries.create(made)
  return made
}
