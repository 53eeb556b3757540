import { liveAccountOf, sandboxOf } from '../../lib/account-ids.ts'
import type { Clock } from '../../lib/clock.ts'
import { newEndpointId } from '../../lib/ids.ts'
import type { NamedSecrets } from '../../lib/named-secret.ts'
import type { Network } from '../../lib/network.ts'
import { Unavailable } from '../../lib/unavailable.ts'
import type { DeliveryStore } from '../deliveries/delivery.ts'
import type { Endpoint, EndpointStore, SecretVersion } from '../endpoints/endpoint.ts'
import { ENDPOINT_MAX_AGE_MS } from '../endpoints/endpoint-directory.ts'
import { HEALTHY } from '../endpoints/endpoint-health.ts'
import { deriveSecret, hasEntry } from '../sending/signing-secret.ts'
import {
  type EndpointSettings,
  parseDescription,
  parseEvents,
  parsePayload,
  parseSettings,
  parseUrl,
} from './endpoint-settings.ts'
import { changeEndpoint, findEndpoint, type Target, touchEndpoint } from './find-endpoint.ts'
import { WebhookError } from './webhook-error.ts'

export interface EndpointOperationsOptions {
  endpoints: EndpointStore
  deliveries: Pick<DeliveryStore, 'hold' | 'releaseHeld' | 'cancel'>
  /** The first derives new secrets. @throws WebhookError `secrets_missing` */
  secrets(): NamedSecrets
  /** `WEBHOOK_ALLOW`. */
  allow: readonly Network[]
  /** How long deliveries are kept. */
  retentionMs: number
  /** Epoch milliseconds. */
  clock: Clock
}

export interface NewEndpoint extends EndpointSettings {
  /** A new id when absent; the audit log records it before the endpoint exists. */
  id?: string
  accountId: string
  /** Whether it receives the events of the account's sandbox, and no other; absent: no. */
  isTest?: boolean
  /** The account then has no more endpoints than this, and its sandbox as many; absent: no limit. */
  atMost?: number
}

/** An endpoint, and its secret, which no later call returns. */
export interface CreatedEndpoint {
  endpoint: Endpoint
  /** `whsec_` and base64. */
  secret: string
}

export interface RolledSecret {
  secret: string
  /** Epoch milliseconds. */
  oldSecretEndsAt: number
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

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
export const MAX_SECRET_OVERLAP_MS = 7 * DAY_MS

/**
 * Creates the operations on endpoints, for commands and for the management API. Calls throw
 * WebhookError and Unavailable.
 */
export function createEndpointOperations({
  endpoints,
  deliveries,
  secrets,
  allow,
  retentionMs,
  clock,
}: EndpointOperationsOptions) {
  /** The secret that new endpoints and rolls use. */
  const currentKid = () => secrets()[0].kid
  const secretOf = (id: string, version: SecretVersion) => deriveSecret(secrets(), id, version)

  /**
   * Writers that read the endpoints just before the insert know it five seconds after the insert.
   * An outage now is no failure: a second creation would send each event twice, and the start is
   * only displayed.
   */
  async function startFromNow(endpoint: Endpoint): Promise<Endpoint> {
    const startsAt = clock() + ENDPOINT_MAX_AGE_MS
    if (startsAt === endpoint.startsAt) return endpoint
    try {
      const started = await endpoints.update(endpoint.id, (current) => ({ ...current, startsAt }))
      return started ?? endpoint
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      return { ...endpoint, startsAt }
    }
  }

  /** The replay refuses an earlier start; it may follow within an hour. */
  const earliestReplay = () => clock() - retentionMs + HOUR_MS

  /** Concurrent creations may exceed the limit by a few. */
  async function assertBelow(limit: number, accountId: string): Promise<void> {
    if ((await endpoints.list(accountId)).length < limit) return
    throw new WebhookError(
      'too_many_endpoints',
      `${liveAccountOf(accountId)} has ${limit} endpoints, the most that its owner may create: delete one, and create again`,
    )
  }

  return {
    /**
     * Creates an enabled endpoint. Its deliveries start once every writer has read it.
     * @throws WebhookError `too_many_endpoints`, or of a setting
     * @throws Unavailable with advice in the message when the endpoint may be stored
     */
    async createEndpoint({
      accountId,
      isTest = false,
      id = newEndpointId(),
      atMost,
      ...given
    }: NewEndpoint): Promise<CreatedEndpoint> {
      const settings = {
        url: parseUrl(given.url, allow),
        events: parseEvents(given.events),
        payload: parsePayload(given.payload),
        description: parseDescription(given.description),
      }
      const owner = isTest ? sandboxOf(accountId) : accountId
      if (atMost !== undefined) await assertBelow(atMost, owner)
      const createdAt = clock()
      const endpoint: Endpoint = {
        id,
        accountId: owner,
        ...settings,
        ...HEALTHY,
        disabledReason: null,
        createdAt,
        startsAt: createdAt + ENDPOINT_MAX_AGE_MS,
        secret: { kid: currentKid(), generation: 1 },
        previousSecret: null,
        lastSuccessAt: null,
        deletedAt: null,
      }
      const secret = secretOf(endpoint.id, endpoint.secret)
      await endpoints.insert(endpoint).catch((cause: unknown) => {
        if (!(cause instanceof Unavailable)) throw cause
        const advice = `the endpoint may be stored; if the list of ${accountId} has ${endpoint.id}, delete it and create another`
        throw new Unavailable(`${cause.message}; ${advice}`, { cause })
      })
      return { endpoint: await startFromNow(endpoint), secret }
    },

    /** @throws WebhookError `secrets_missing` */
    assertSecrets(): void {
      secrets()
    },

    /** The endpoints of an account and of its sandbox, oldest first, then by id. */
    async listEndpoints(accountId: string): Promise<Endpoint[]> {
      const accounts = [accountId, sandboxOf(accountId)]
      const found = await Promise.all(accounts.map((id) => endpoints.list(id)))
      return found.flat().toSorted(byAge)
    },

    showEndpoint: (target: Target): Promise<Endpoint> => findEndpoint(endpoints, target),

    /**
     * Changes the given settings. Another URL begins without the failures of the old one, but while
     * disabled it keeps their start, since which enabling offers a replay. The stored URL is not
     * validated again: forms send it with other changes, and `allow` may have changed.
     */
    async updateEndpoint(target: Target, given: Partial<EndpointSettings>): Promise<Endpoint> {
      const { url, ...others } = given
      const settings = parseSettings(others)
      return changeEndpoint(endpoints, target, (endpoint) => {
        const changed = { ...endpoint, ...settings }
        if (url === undefined || url === endpoint.url) return changed
        const moved = parseUrl(url, allow)
        if (moved === endpoint.url) return changed
        // A disabled one keeps what the replay starts from, and what the dispatcher has reported.
        const { failingSince, noticesSent } = endpoint.disabledReason === null ? HEALTHY : endpoint
        return { ...changed, url: moved, ...HEALTHY, failingSince, noticesSent }
      })
    },

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
      await touchEndpoint(endpoints, endpoint.id)
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
     * Signs with a new secret, and for `overlapMs` with the present one too. A secret that an earlier
     * roll kept valid ends now, so at most two sign. So does a present one whose entry is lost: the
     * roll is its remedy.
     * @throws WebhookError `invalid_overlap`
     */
    async rollSecret(target: Target, overlapMs: number): Promise<RolledSecret> {
      if (!(overlapMs >= 0 && overlapMs <= MAX_SECRET_OVERLAP_MS)) {
        const message = `the overlap is not valid: expected 0 to ${MAX_SECRET_OVERLAP_MS / DAY_MS} days`
        throw new WebhookError('invalid_overlap', message)
      }
      const nowMs = clock()
      const endsAt = nowMs + overlapMs
      const kid = currentKid()
      const { id, secret, previousSecret } = await changeEndpoint(endpoints, target, (endpoint) => {
        const keepsOld = overlapMs > 0 && hasEntry(secrets(), endpoint.secret)
        return {
          ...endpoint,
          secret: { kid, generation: endpoint.secret.generation + 1 },
          previousSecret: keepsOld ? { ...endpoint.secret, endsAt } : null,
        }
      })
      return { secret: secretOf(id, secret), oldSecretEndsAt: previousSecret?.endsAt ?? nowMs }
    },
  }
}

const byAge = (one: Endpoint, other: Endpoint) =>
  one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1)
