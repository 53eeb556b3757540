import type { Clock } from '../../lib/clock.ts'
import { DAY_MS, HOUR_MS } from '../../lib/durations.ts'
import type { NamedSecrets } from '../../lib/secrets/named-secret.ts'
import type { DeliveryStore } from '../deliveries/delivery-store.ts'
import type { Endpoint, RepeatableRequest } from '../endpoints/endpoint.ts'
import { HEALTHY } from '../endpoints/endpoint-health.ts'
import type { EndpointStore } from '../endpoints/endpoint-store.ts'
import { deriveSecret, hasEntry } from '../sending/signing-secret.ts'
import { currentKid } from './endpoint-secrets.ts'
import {
  changeEndpoint,
  findEndpoint,
  findForChange,
  type Target,
  touchEndpoint,
} from './endpoint-target.ts'
import { WebhookError } from './webhook-error.ts'

export interface EndpointActionsOptions {
  endpoints: Pick<EndpointStore, 'find' | 'byId' | 'update'>
  deliveries: Pick<DeliveryStore, 'hold' | 'releaseHeld' | 'cancel'>
  /** The first derives new secrets. @throws WebhookError `secrets_missing` */
  secrets(): NamedSecrets
  /** How long deliveries are kept. */
  retentionMs: number
  /** Epoch milliseconds. */
  clock: Clock
}

export interface RolledSecret {
  secret: string
  /** Epoch milliseconds. */
  oldSecretEndsAt: number
  /** Whether the secret before that one still signed until now; the receiver may have that one. */
  hasEndedEarlierOne: boolean
}

export interface EnabledEndpoint {
  endpoint: Endpoint
  /** The number of deliveries that were held, and are due now. */
  released: number
  /**
   * The first failure since the last success before it was enabled, within the retention: a replay
   * may start there.
   */
  failedSince: number | null
}

export const MAX_SECRET_OVERLAP_MS = 7 * DAY_MS

/**
 * Creates the actions on existing endpoints and on their deliveries, for commands and for the
 * management API. Calls throw WebhookError and Unavailable.
 */
export function createEndpointActions({
  endpoints,
  deliveries,
  secrets,
  retentionMs,
  clock,
}: EndpointActionsOptions) {
  /** The replay refuses an earlier start; it may follow within an hour. */
  const earliestReplay = () => clock() - retentionMs + HOUR_MS

  return {
    findForChange: (target: Target): Promise<Endpoint> => findForChange(endpoints, target),

    /** Sends what was held, in order. Also completes an enabling that was interrupted. */
    async enableEndpoint(target: Target): Promise<EnabledEndpoint> {
      const { id } = await findEndpoint(endpoints, target)
      // First: a repetition after a failure still finds since when it failed, and the dispatcher
      // reads what is released after the change. It releases what it holds until then.
      const released = await deliveries.releaseHeld(id, clock())
      let failedSince: number | null = null
      const endpoint = await changeEndpoint(endpoints, target, ({ failingSince, ...current }) => {
        failedSince = failingSince && Math.max(failingSince, earliestReplay())
        return { ...current, ...HEALTHY, disabledReason: null }
      })
      return { endpoint, released, failedSince }
    },

    /** Holds its deliveries. An endpoint that is disabled already keeps its reason. */
    async disableEndpoint(target: Target): Promise<Endpoint> {
      const endpoint = await changeEndpoint(endpoints, target, (current) => ({
        ...current,
        disabledReason: current.disabledReason ?? 'manual',
      }))
      await deliveries.hold(endpoint.id, clock())
      const current = await touchEndpoint(endpoints, endpoint.id)
      // Enabled meanwhile: what was held since then stays held otherwise.
      if (current?.disabledReason === null) {
        await deliveries.releaseHeld(endpoint.id, clock())
        await touchEndpoint(endpoints, endpoint.id)
      }
      return endpoint
    },

    /** Marks the endpoint as deleted, and cancels its deliveries. */
    async deleteEndpoint(target: Target): Promise<Endpoint> {
      const deletedAt = clock()
      const endpoint = await changeEndpoint(endpoints, target, (current) => ({
        ...current,
        deletedAt,
      }))
      await deliveries.cancel(endpoint.id)
      return endpoint
    },

    /**
     * Signs with a new secret, and for `overlapMs` with the present one too. A secret that an
     * earlier roll kept valid ends now, so at most two sign. So does a present one whose entry is
     * lost: the roll is its remedy. A repetition of the last roll by its `request` changes nothing,
     * and returns the same.
     * @throws WebhookError `invalid_overlap`
     */
    async rollSecret(
      target: Target,
      overlapMs: number,
      request?: RepeatableRequest,
    ): Promise<RolledSecret> {
      if (!(overlapMs >= 0 && overlapMs <= MAX_SECRET_OVERLAP_MS)) {
        const message = `the overlap is not valid: expected 0 to ${MAX_SECRET_OVERLAP_MS / DAY_MS} days`
        throw new WebhookError('invalid_overlap', message)
      }
      const nowMs = clock()
      const endsAt = nowMs + overlapMs
      const kid = currentKid(secrets())
      let hasEndedEarlierOne = false
      const { id, secret, previousSecret } = await changeEndpoint(endpoints, target, (endpoint) => {
        const isRepetition = isRolledBy(endpoint, request)
        hasEndedEarlierOne = !isRepetition && (endpoint.previousSecret?.endsAt ?? 0) > nowMs
        if (isRepetition) return endpoint
        const { rolledBy: _, ...old } = endpoint.secret
        const keepsOld = overlapMs > 0 && hasEntry(secrets(), old)
        const next = { kid, generation: old.generation + 1 }
        return {
          ...endpoint,
          secret: request ? { ...next, rolledBy: { id: request.id, at: nowMs } } : next,
          previousSecret: keepsOld ? { ...old, endsAt } : null,
        }
      })
      return {
        secret: deriveSecret(secrets(), id, secret),
        oldSecretEndsAt: previousSecret?.endsAt ?? secret.rolledBy?.at ?? nowMs,
        hasEndedEarlierOne,
      }
    },

    /** @throws WebhookError `secrets_missing` */
    assertSecrets(): void {
      secrets()
    },
  }
}

function isRolledBy({ secret }: Endpoint, request: RepeatableRequest | undefined): boolean {
  const { rolledBy } = secret
  if (rolledBy === undefined || request === undefined) return false
  return rolledBy.id === request.id && rolledBy.at >= request.sinceMs
}
