import { liveAccountOf, sandboxOf } from '../../auth/account-ids.ts'
import { createKeyedMutex } from '../../lib/async/keyed-lock.ts'
import type { Clock } from '../../lib/clock.ts'
import { Unavailable } from '../../lib/errors/unavailable.ts'
import type { Network } from '../../lib/network.ts'
import type { NamedSecrets } from '../../lib/secrets/named-secret.ts'
import type { Endpoint, RepeatableRequest } from '../endpoints/endpoint.ts'
import { ENDPOINT_MAX_AGE_MS } from '../endpoints/endpoint-directory.ts'
import { HEALTHY } from '../endpoints/endpoint-health.ts'
import type { EndpointStore } from '../endpoints/endpoint-store.ts'
import { deriveSecret } from '../sending/signing-secret.ts'
import { endpointIdOf, newEndpointId } from './endpoint-id.ts'
import { currentKid } from './endpoint-secrets.ts'
import {
  type EndpointSettings,
  parseDescription,
  parseEvents,
  parsePayload,
  parseSettings,
  parseUrl,
} from './endpoint-settings.ts'
import { changeEndpoint, findEndpoint, type Target } from './endpoint-target.ts'
import { WebhookError } from './webhook-error.ts'

export interface EndpointOperationsOptions {
  endpoints: EndpointStore
  /** The first derives new secrets. @throws WebhookError `secrets_missing` */
  secrets(): NamedSecrets
  /** `WEBHOOK_ALLOW`. */
  allow: readonly Network[]
  /** Epoch milliseconds. */
  clock: Clock
}

export interface NewEndpoint extends EndpointSettings {
  /**
   * A new id when absent; the audit log records it before the endpoint exists. An endpoint that has
   * it already is returned as it is.
   */
  id?: string
  accountId: string
  /** Whether it receives the events of the account's sandbox, and no other; absent: no. */
  isTest?: boolean
  /**
   * The account then has no more endpoints than this, and its sandbox as many; absent: no limit.
   * Concurrent calls to several processes may exceed it by one endpoint each.
   */
  atMost?: number
}

/** An endpoint, and its secret, which no later call returns. */
export interface CreatedEndpoint {
  endpoint: Endpoint
  /** `whsec_` and base64. */
  secret: string
}

/**
 * Creates the operations that create, read and change endpoints, for commands and for the
 * management API. Calls throw WebhookError and Unavailable.
 */
export function createEndpointOperations({
  endpoints,
  secrets,
  allow,
  clock,
}: EndpointOperationsOptions) {
  /**
   * A writer that read the endpoints just before the insert reads the new one within five seconds.
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

  /** Concurrent creations would each count the endpoints before all of them. */
  const oneAtATime = createKeyedMutex()

  async function assertBelow(limit: number, accountId: string): Promise<void> {
    if ((await endpoints.list(accountId)).length < limit) return
    throw new WebhookError(
      'too_many_endpoints',
      `${liveAccountOf(accountId)} has ${limit} endpoints, the most that its owner may create: delete one, and create again`,
    )
  }

  function newEndpoint(
    id: string,
    accountId: string,
    settings: Pick<Endpoint, keyof EndpointSettings>,
  ): Endpoint {
    const createdAt = clock()
    return {
      id,
      accountId,
      ...settings,
      ...HEALTHY,
      disabledReason: null,
      createdAt,
      startsAt: createdAt + ENDPOINT_MAX_AGE_MS,
      secret: { kid: currentKid(secrets()), generation: 1 },
      previousSecret: null,
      lastSuccessAt: null,
      deletedAt: null,
    }
  }

  return {
    /** The id of the endpoint that a request creates, or has created. */
    endpointIdOf: (request?: RepeatableRequest): Promise<string> =>
      endpointIdOf(endpoints, request, clock()),

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
      const insert = async () => {
        // Written again, because a node may show an endpoint that no other node has.
        const stored = (await endpoints.byId(id)) && (await endpoints.update(id, (same) => same))
        if (stored !== null) return stored
        if (atMost !== undefined) await assertBelow(atMost, owner)
        const endpoint = newEndpoint(id, owner, settings)
        await endpoints.insert(endpoint).catch((cause: unknown) => {
          if (!(cause instanceof Unavailable)) throw cause
          const advice = `the endpoint may be stored; if the list of ${accountId} has ${id}, delete it and create another`
          throw new Unavailable(`${cause.message}; ${advice}`, { cause })
        })
        return endpoint
      }
      const endpoint = await (atMost === undefined ? insert() : oneAtATime(owner, insert))
      const secret = deriveSecret(secrets(), id, endpoint.secret)
      return { endpoint: await startFromNow(endpoint), secret }
    },

    /** The endpoints of an account and of its sandbox, oldest first, then by id. */
    async listEndpoints(accountId: string): Promise<Endpoint[]> {
      const accounts = [accountId, sandboxOf(accountId)]
      const found = await Promise.all(accounts.map((id) => endpoints.list(id)))
      return found.flat().toSorted(byAge)
    },

    /** Those of all accounts, oldest first, then by id. */
    async listAllEndpoints(): Promise<Endpoint[]> {
      const { endpoints: versions } = await endpoints.changes(null)
      const newest = new Map(versions.map((endpoint) => [endpoint.id, endpoint]))
      return [...newest.values()].filter(({ deletedAt }) => deletedAt === null).toSorted(byAge)
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
  }
}

const byAge = (one: Endpoint, other: Endpoint) =>
  one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1)
