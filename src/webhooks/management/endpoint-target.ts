import { liveAccountOf } from '../../auth/account-ids.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { EndpointStore } from '../endpoints/endpoint-store.ts'
import { WebhookError } from './webhook-error.ts'

/** What an operation acts on. */
export interface Target {
  id: string
  /**
   * The live account: then another account's does not exist. Its sandbox is its own. An operator's
   * command names no account.
   */
  accountId?: string
}

/** @throws WebhookError `endpoint_missing` */
export async function findEndpoint(
  endpoints: Pick<EndpointStore, 'byId'>,
  target: Target,
): Promise<Endpoint> {
  const endpoint = await endpoints.byId(target.id)
  if (endpoint === null || !isOf(target, endpoint)) throw endpointMissing(target)
  return endpoint
}

/**
 * Finds the endpoint of a change. Where it is deleted, no failover brings it back after the error.
 * @throws WebhookError `endpoint_missing`
 */
export async function findForChange(
  endpoints: Pick<EndpointStore, 'find' | 'update'>,
  target: Target,
): Promise<Endpoint> {
  const found = await endpoints.find(target.id)
  if (found === null || !isOf(target, found)) throw endpointMissing(target)
  if (found.deletedAt === null) return found
  // Where the deletion was lost with the node that showed it, the endpoint is there again.
  const restored = await endpoints.update(target.id, (same) => same)
  if (restored === null) throw endpointMissing(target)
  return restored
}

/**
 * Replaces an endpoint with what `change` returns; see the store.
 * @throws WebhookError `endpoint_missing`
 */
export async function changeEndpoint(
  endpoints: Pick<EndpointStore, 'update'>,
  target: Target,
  change: (endpoint: Endpoint) => Endpoint,
): Promise<Endpoint> {
  const changed = await endpoints.update(target.id, (endpoint) =>
    isOf(target, endpoint) ? change(endpoint) : null,
  )
  if (changed === null) throw endpointMissing(target)
  return changed
}

/**
 * Saves an endpoint unchanged, so that the dispatcher reads its deliveries again. Without it, the
 * dispatcher finds what another process made due only by chance. Returns it as it is stored.
 */
export async function touchEndpoint(
  endpoints: Pick<EndpointStore, 'update'>,
  id: string,
): Promise<Endpoint | null> {
  return endpoints.update(id, (endpoint) => ({ ...endpoint }))
}

/** @throws WebhookError `endpoint_disabled` */
export function assertEnabled({ id, disabledReason }: Endpoint): void {
  if (disabledReason === null) return
  throw new WebhookError(
    'endpoint_disabled',
    `the endpoint ${id} is disabled (${disabledReason}), and nothing is sent to it: enable it first`,
  )
}

export const isOf = ({ accountId }: Target, owned: { accountId: string }) =>
  accountId === undefined || accountId === liveAccountOf(owned.accountId)

/** A secret in place of an id is not repeated. */
function endpointMissing({ id }: Target): WebhookError {
  const problem = id.startsWith('whsec_')
    ? 'that is a secret, not the id of an endpoint'
    : `there is no endpoint ${id}`
  return new WebhookError(
    'endpoint_missing',
    `${problem}; the list of the account's endpoints has their ids`,
  )
}
