import type { Clock } from '../../../../../src/lib/clock.ts'
import type { SendResult } from '../../../../../src/webhooks/sending/sender.ts'
import type { DeliveryLog } from '../delivering/delivery-log.ts'
import type { Flight } from '../delivering/receivers.ts'
import type { Violations } from './violation.ts'

/** What a dispatcher has in flight to an endpoint, and the limit that the responses allow. */
interface Load {
  inFlight: number
  limit: number
  successes: number
  lastSentAt: number
  /** The limit before the last failure, and the read of views that had begun then. */
  before: { limit: number; read: number }
}

export interface LoadChecks {
  onRequest(flight: Flight): void
  onResponse(flight: Flight, result: SendResult): void
}

export interface Limits {
  total: number
  restricted: number
}

export interface LoadChecksOptions {
  clock: Clock
  limits: Limits
  /** See {@link DeliveryLog}. */
  reads: DeliveryLog['reads']
  /** The id of the endpoint that has or had a URL. */
  endpointOf(url: string): string
  violations: Violations
}

const INITIAL = 8
const MAXIMUM = 32
const OVERLOADED: readonly (number | null)[] = [429, 502, 503, 504]
/** After this time without a request, a dispatcher may have forgotten an endpoint. */
const FORGOTTEN_MS = 60_000

/** Checks invariant 9: the requests in flight, per endpoint and dispatcher. */
export function createLoadChecks({
  clock,
  limits,
  reads,
  endpointOf,
  violations,
}: LoadChecksOptions): LoadChecks {
  const loads = new Map<string, Load>()
  const totals = new Map<number, number>()
  /** Endpoints that never succeeded share a part of the requests of a dispatcher. */
  const unproven = new Map<number, number>()
  const proven = new Set<string>()
  const isUnproven = new WeakSet<Flight>()

  function loadOf({ request, processId }: Flight): Load {
    const key = `${processId} ${endpointOf(request.url)}`
    const before = { limit: INITIAL, read: 0 }
    const load = loads.get(key) ?? {
      inFlight: 0,
      limit: INITIAL,
      successes: 0,
      lastSentAt: 0,
      before,
    }
    loads.set(key, load)
    return load
  }

  const add = (counts: Map<number, number>, id: number, change: number) => {
    const count = (counts.get(id) ?? 0) + change
    counts.set(id, count)
    return count
  }

  return {
    onRequest(flight) {
      const load = loadOf(flight)
      const { processId } = flight
      if (clock() - load.lastSentAt >= FORGOTTEN_MS) load.limit = Math.max(load.limit, INITIAL)
      load.lastSentAt = clock()
      load.inFlight += 1
      const total = add(totals, processId, 1)
      if (!proven.has(endpointOf(flight.request.url))) isUnproven.add(flight)
      const restricted = isUnproven.has(flight) ? add(unproven, processId, 1) : 0
      const fail = (what: string) => violations.add(9, '', `${what} are in flight at ${clock()}`)
      // A request holds its place from before its view is read.
      const isEarlier = reads().ended <= load.before.read
      const limit = isEarlier ? Math.max(load.limit, load.before.limit) : load.limit
      if (load.inFlight > limit) fail(`${load.inFlight} of ${limit} to one endpoint`)
      if (total > limits.total) fail(`${total} of ${limits.total} requests`)
      if (restricted > limits.restricted) fail(`${restricted} of ${limits.restricted} unproven`)
    },
    onResponse(flight, { status, error }) {
      const load = loadOf(flight)
      load.inFlight -= 1
      add(totals, flight.processId, -1)
      if (isUnproven.has(flight)) add(unproven, flight.processId, -1)
      if (error === null) {
        proven.add(endpointOf(flight.request.url))
        load.successes += 1
        if (load.successes < load.limit || load.limit === MAXIMUM) return
        load.limit += 1
      } else {
        const { begun } = reads()
        const isSame = load.before.read === begun
        load.before = {
          limit: isSame ? Math.max(load.before.limit, load.limit) : load.limit,
          read: begun,
        }
        load.limit = OVERLOADED.includes(status) ? 1 : Math.max(1, Math.floor(load.limit / 2))
      }
      load.successes = 0
    },
  }
}
