import type { Random } from '../../../../../src/demo/random.ts'
import type { Clock } from '../../../../../src/lib/clock.ts'
import type { NamedSecrets } from '../../../../../src/lib/secrets/named-secret.ts'
import type { Endpoint } from '../../../../../src/webhooks/endpoints/endpoint.ts'
import { ENDPOINT_MAX_AGE_MS } from '../../../../../src/webhooks/endpoints/endpoint-directory.ts'
import { eventTypes } from '../../../../../src/webhooks/events/event-types.ts'
import { createEndpointActions } from '../../../../../src/webhooks/management/endpoint-actions.ts'
import {
  createEndpointOperations,
  type NewEndpoint,
} from '../../../../../src/webhooks/management/endpoint-operations.ts'
import type { WebhookStores } from '../../../../../src/webhooks/webhook-stores.ts'
import type { Trace } from '../checks/trace.ts'

/** A secret that the receiver of an endpoint has, and when it signs. */
export interface ReceiverSecret {
  secret: string
  from: number
  until: number
}

/** An endpoint, and everything that its account did to it. */
export interface ModelEndpoint {
  id: string
  accountId: string
  /** Its settings after each change, oldest first; `null`: deleted. */
  versions: { at: number; endpoint: Endpoint | null }[]
  secrets: ReceiverSecret[]
}

/** The endpoints of a walk, changed as by the commands. */
export interface EndpointHistory {
  create(settings: NewEndpoint): Promise<void>
  /** Does something at random to an endpoint, or creates one. */
  change(): Promise<void>
  /** Enables what is disabled, but for a few endpoints. */
  enableAll(): Promise<void>
  /** Disables and deletes everything, for the next walk on this store. */
  deleteAll(): Promise<void>
  byUrl(url: string): ModelEndpoint | undefined
  all(): readonly ModelEndpoint[]
}

/** Changes of endpoints take effect within this time. */
export const STALE_MS = ENDPOINT_MAX_AGE_MS

/** All settings that may be in use at an instant, with those that not every process has read. */
export function endpointsAround(
  { versions }: ModelEndpoint,
  fromMs: number,
  toMs: number,
): (Endpoint | null)[] {
  const before = versions.findLast(({ at }) => at <= fromMs)?.endpoint ?? null
  const since = versions.filter(({ at }) => at > fromMs && at <= toMs)
  return [before, ...since.map(({ endpoint }) => endpoint)]
}

export interface EndpointHistoryOptions {
  random: Random
  clock: Clock
  webhooks: Pick<WebhookStores, 'endpoints' | 'deliveries'>
  secrets: NamedSecrets
  /** The account whose endpoints change during the walk. */
  changingAccount: string
  /** Distinguishes the URLs of walks. */
  prefix: string
  trace: Trace
  /**
   * Lets every process read the endpoints: an account does not enable what just failed, nor disable
   * what just has an event.
   */
  awaitDirectories(): Promise<void>
}

const OVERLAPS_MS = [0, 10_000, 3_600_000]
const RETENTION_MS = 30 * 86_400_000

/** Creates a history without endpoints. */
export function createEndpointHistory(options: EndpointHistoryOptions): EndpointHistory {
  const { random, clock, webhooks, secrets, changingAccount, prefix, trace } = options
  const derivation = { secrets: () => secrets, clock }
  const operations = {
    ...createEndpointOperations({ ...webhooks, ...derivation, allow: [] }),
    ...createEndpointActions({ ...webhooks, ...derivation, retentionMs: RETENTION_MS }),
  }
  const known: ModelEndpoint[] = []
  const byUrl = new Map<string, ModelEndpoint>()
  let urls = 0
  const nextUrl = () => `https://receiver.example/${prefix}${++urls}`

  async function note(model: ModelEndpoint, text: string): Promise<void> {
    const endpoint = await webhooks.endpoints.byId(model.id)
    model.versions.push({ at: clock(), endpoint })
    if (endpoint !== null) byUrl.set(endpoint.url, model)
    trace.note([], `endpoint ${model.id.slice(0, 7)} of ${model.accountId}: ${text}`)
  }

  async function create(settings: NewEndpoint): Promise<void> {
    const { endpoint, secret } = await operations.createEndpoint(settings)
    const { id, accountId } = endpoint
    const first = { secret, from: clock(), until: Number.POSITIVE_INFINITY }
    const model: ModelEndpoint = { id, accountId, versions: [], secrets: [first] }
    known.push(model)
    await note(model, `created, ${settings.payload}, ${settings.events.join(', ')}`)
  }

  const settings = (): NewEndpoint => ({
    accountId: changingAccount,
    url: nextUrl(),
    events: random.chance(0.5)
      ? ['*']
      : eventTypes.filter(() => random.chance(0.5)).concat('order.paid'),
    payload: random.pick(['full', 'thin']),
    description: null,
  })

  async function roll(model: ModelEndpoint): Promise<void> {
    const overlapMs = random.pick(OVERLAPS_MS)
    const { secret } = await operations.rollSecret(model, overlapMs)
    const [current, previous] = model.secrets.toReversed()
    if (previous) previous.until = Math.min(previous.until, clock())
    if (current) current.until = clock() + overlapMs
    model.secrets.push({ secret, from: clock(), until: Number.POSITIVE_INFINITY })
    await note(model, `rolled, the old secret signs for ${overlapMs} ms`)
  }

  /** A dispatcher that reads it later plans the next event, and earlier ones are held already. */
  async function disable(model: ModelEndpoint): Promise<void> {
    await options.awaitDirectories()
    await operations.disableEndpoint(model)
    await options.awaitDirectories()
  }

  async function enable(model: ModelEndpoint): Promise<void> {
    await options.awaitDirectories()
    await operations.enableEndpoint(model)
  }

  const isAlive = ({ versions }: ModelEndpoint) => versions.at(-1)?.endpoint !== null
  const changes: [name: string, (model: ModelEndpoint) => Promise<unknown>][] = [
    ['disabled', disable],
    ['enabled', enable],
    ['enabled', enable],
    ['deleted', (model) => operations.deleteEndpoint(model)],
    [
      'updated',
      (model) => {
        const { events, payload } = settings()
        return operations.updateEndpoint(model, { events, payload })
      },
    ],
    ['moved', (model) => operations.updateEndpoint(model, { url: nextUrl() })],
  ]

  return {
    create: (given) => create({ ...given, url: nextUrl() }),
    async change() {
      // Any endpoint may roll or be disabled for a while; the others change no setting.
      const alive = known.filter(isAlive)
      const own = alive.filter(({ accountId }) => accountId === changingAccount)
      const chance = random.next()
      if (own.length === 0 || chance < 0.2) await create(settings())
      else if (chance < 0.4) await roll(random.pick(alive))
      else {
        const [name, change] = random.pick(changes)
        const model = random.pick(own)
        await change(model)
        await note(model, name)
      }
    },
    async enableAll() {
      for (const model of known.filter(isAlive)) {
        const endpoint = await webhooks.endpoints.byId(model.id)
        if (endpoint === null || endpoint.disabledReason === null) continue
        if (model.accountId === changingAccount && random.chance(0.3)) continue
        await enable(model)
        await note(model, 'enabled')
      }
    },
    async deleteAll() {
      for (const model of known.filter(isAlive)) await operations.deleteEndpoint(model)
    },
    byUrl: (url) => byUrl.get(url),
    all: () => known,
  }
}
