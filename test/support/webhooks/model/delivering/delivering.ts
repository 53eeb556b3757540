import { createRandom, type Random } from '../../../../../src/demo/random.ts'
import type { NamedSecret } from '../../../../../src/lib/secrets/named-secret.ts'
import { createRetrySchedule } from '../../../../../src/webhooks/deliveries/retry-schedule.ts'
import { createSigner } from '../../../../../src/webhooks/sending/signature.ts'
import { createLoadChecks } from '../checks/check-load.ts'
import type { RequestChecks } from '../checks/check-requests.ts'
import type { Trace } from '../checks/trace.ts'
import type { Violations } from '../checks/violation.ts'
import type { WalkStores } from '../walk-stores.ts'
import type { DeliveryLog } from './delivery-log.ts'
import {
  type DispatcherProcess,
  type ProcessOptions,
  startDispatcher,
  untilIdle,
} from './dispatcher-process.ts'
import type { EndpointHistory } from './endpoint-history.ts'
import { createReceivers } from './receivers.ts'
import { createSlowCalls } from './slow-calls.ts'

/** The dispatchers and receivers of a walk, and its clock. */
export interface Delivering {
  /** Lets time pass, and a dispatcher do what is due then. */
  advance(ms: number): Promise<void>
  /** The dispatcher dies; another one starts now, or when time passes. */
  crash(): Promise<void>
  /** From now on nothing dies, and every request is accepted. */
  heal(): Promise<void>
  end(): Promise<void>
  counts(): { requests: number; dispatchers: number }
}

/** Breaks a dispatcher on purpose. */
export type MutateDispatcher = (options: ProcessOptions) => ProcessOptions

export interface DeliveringOptions {
  random: Random
  clock: { nowMs: number }
  stores: WalkStores
  endpoints: EndpointHistory
  secrets: readonly NamedSecret[]
  log: DeliveryLog
  checks: RequestChecks
  violations: Violations
  trace: Trace
  mutate: MutateDispatcher
}

const LIMITS = [
  { total: 1_280, restricted: 64 },
  { total: 3, restricted: 1 },
]
const SCHEDULES_MS = [undefined, [0, 5_000, 30_000, 120_000, 600_000]]
/** Longer than a dispatcher waits before it reads the endpoints again. */
const REFRESH_MS = 2_100

/** Starts a dispatcher. */
export function startDelivering(options: DeliveringOptions): Delivering {
  const { random, clock, stores, endpoints, log, checks, violations, trace } = options
  const now = () => clock.nowMs
  const limits = random.pick(LIMITS)
  const loadChecks = createLoadChecks({
    clock: now,
    limits,
    reads: log.reads,
    endpointOf: (url) => endpoints.byUrl(url)?.id ?? url,
    violations,
  })
  const schedule = createRetrySchedule(random.pick(SCHEDULES_MS), random.next)
  let requests = 0
  let dispatchers = 0
  let isHealed = false

  // Of its own: calls that overlap differ between runs, and the history must not.
  const slowRandom = createRandom(random.between(0, 2 ** 31 - 1), 18, 2)
  const slowCalls = createSlowCalls(slowRandom, now)
  const receivers = createReceivers({
    random,
    clock: now,
    onRequest(flight) {
      requests += 1
      checks.onRequest(flight)
      loadChecks.onRequest(flight)
    },
    onResponse(flight, result) {
      checks.onResponse(flight, result)
      loadChecks.onResponse(flight, result)
      if (isHealed || result.error !== null || !random.chance(0.03)) return
      trace.note([], 'the dispatcher dies after a 2xx, before it is stored')
      dispatcher.die()
    },
  })

  function start(): DispatcherProcess {
    dispatchers += 1
    return startDispatcher(
      dispatchers,
      options.mutate({
        stores: log.observe(stores.webhooks),
        orders: log.observeViews(stores.orders),
        sender: receivers.senderOf(dispatchers),
        sign: createSigner(options.secrets),
        sendNotice: null,
        schedule,
        clock: now,
        monotonic: now,
        limits,
        slowCalls,
      }),
    )
  }

  async function restart(): Promise<void> {
    receivers.drop(dispatcher.id)
    slowCalls.release()
    await dispatcher.end()
    trace.note([], 'another dispatcher starts')
    dispatcher = start()
  }

  async function advanceTo(atMs: number): Promise<void> {
    await stores.refresh() // A dispatcher finds at once what was written until now.
    clock.nowMs = atMs
    receivers.respond()
    slowCalls.respond()
    await untilIdle(log.activity, dispatcher.isDead)
    if (!dispatcher.isDead()) return
    await restart()
    await untilIdle(log.activity, dispatcher.isDead)
  }

  const nextDueAt = () => Math.min(receivers.nextDueAt(), slowCalls.nextDueAt())

  let dispatcher = start()
  return {
    async advance(ms) {
      const startedAt = now()
      const until = startedAt + ms
      // A jump must not separate a change or a read of the endpoints from its use. The first read
      // may miss a change beside a write in progress, as on OpenSearch; the second finds it.
      for (const reads of [0, 1, 2]) {
        const at = startedAt + reads * REFRESH_MS
        if (at < until) await advanceTo(at)
      }
      // Each response arrives in time, however far the clock jumps.
      for (let at = nextDueAt(); at < until; at = nextDueAt()) {
        await advanceTo(Math.max(at, now()))
      }
      await advanceTo(until)
    },
    async crash() {
      trace.note([], 'the dispatcher dies')
      dispatcher.die()
      if (random.chance(0.3)) await restart()
    },
    async heal() {
      isHealed = true
      receivers.heal()
      slowCalls.heal()
      await restart()
    },
    end() {
      slowCalls.heal()
      return dispatcher.end()
    },
    counts: () => ({ requests, dispatchers }),
  }
}
