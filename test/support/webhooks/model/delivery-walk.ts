import { isDeepStrictEqual } from 'node:util'
import { createRandom } from '../../../../src/demo/random.ts'
import {
  mapTransactions,
  type OrderIndex,
  type OrderVersionRecord,
} from '../../../../src/indexing/writer/order-index.ts'
import type { Order } from '../../../../src/orders/order.ts'
import { createRetrySchedule } from '../../../../src/webhooks/deliveries/retry-schedule.ts'
import { createSubscriberLookup } from '../../../../src/webhooks/endpoints/endpoint-directory.ts'
import type { EventRecord } from '../../../../src/webhooks/events/event-record.ts'
import { createSigner } from '../../../../src/webhooks/sending/signature.ts'
import type { WebhookSecret } from '../../../../src/webhooks/sending/signing-secret.ts'
import { checkDeliveries } from './check-deliveries.ts'
import { createLoadChecks } from './check-load.ts'
import { checkAtRest, checkDurable, type ReadView, type SeenRecord } from './check-records.ts'
import { createRequestChecks } from './check-requests.ts'
import { createCrashingWriters } from './crashing-writers.ts'
import { createDeliveryLog } from './delivery-log.ts'
import {
  type DispatcherProcess,
  type ProcessOptions,
  startDispatcher,
  untilIdle,
} from './dispatcher-process.ts'
import { createEndpointHistory, STALE_MS } from './endpoint-history.ts'
import { createReceivers } from './receivers.ts'
import { createRecording } from './recording.ts'
import { createSourceHistory } from './source-history.ts'
import { createTrace } from './trace.ts'
import { createViolations, type Violation } from './violation.ts'
import type { WalkStores } from './walk-stores.ts'

/** Breaks a dispatcher on purpose. */
export type MutateDispatcher = (options: ProcessOptions) => ProcessOptions

export interface DeliveryWalkResult {
  violations: readonly Violation[]
  /** The number of requests that receivers got. */
  requests: number
  /** The number of dispatchers. */
  dispatchers: number
  /** The seed, each violation, and the history of its order. */
  report: string
}

const START_MS = Date.parse('2026-03-01T12:00:00Z')
const STEPS = 60
const SECRETS: readonly [WebhookSecret, ...WebhookSecret[]] = [
  { kid: 'k1', secret: Buffer.alloc(32, 'model') },
]
/** Without one, the next step is at the same instant. */
const ADVANCES_MS = [1, 1_000, 6_000, 40_000, 200_000, 700_000, 4_000_000, 30_000_000]
const SHORT_SCHEDULE_S = [0, 5, 30, 120, 600]
/** Longer than a dispatcher waits before it reads the endpoints again. */
const REFRESH_MS = 2_500
/** Longer than the longest pause of a schedule or a circuit breaker. */
const SETTLE_MS = 13 * 3_600_000
const MAX_ROUNDS = 60

/** Delivers the events of a random history, and checks all invariants. */
export async function walkDeliveries(
  seed: number,
  { stores, openIndex, isAtomic, refresh }: WalkStores,
  mutate: MutateDispatcher = (options) => options,
): Promise<DeliveryWalkResult> {
  const random = createRandom(seed, 18, 0)
  let nowMs = START_MS
  const clock = () => nowMs
  const trace = createTrace(clock)
  const violations = createViolations()
  const accountOf = (name: string) => `acc_${name}_${seed}`
  const steadyAccounts = [accountOf('steady'), accountOf('other')]
  const changingAccount = accountOf('changing')
  const accounts = [...steadyAccounts, changingAccount, accountOf('without')]
  const history = createSourceHistory(random, { accounts, orderCount: 6, prefix: `ord_${seed}_` })
  const readView: ReadView = async (accountId, orderId) => {
    const json = await stores.orders.get(accountId, orderId)
    return json && (JSON.parse(Buffer.from(json).toString()) as Order)
  }

  // Orders.
  /** All records that were sent to the store. An erasure removes the states from stored ones. */
  const sentRecords: SeenRecord[] = []
  const subscribers = createSubscriberLookup(stores.webhooks.endpoints, clock)
  // The write timestamps do not follow the clock of the walk, which jumps ahead of the store's.
  const openAtStart = () => openIndex(() => START_MS)
  async function openObserved(): Promise<OrderIndex> {
    const index = await openAtStart()
    return mapTransactions(index, (transaction) => ({
      ...transaction,
      subscribers,
      async commit(writes, mode) {
        for (const record of writes.eventRecords) {
          const events = record.events.map(({ sequence, type }) => `${sequence} ${type}`)
          trace.note([record.orderId], `records v${record.version}: ${events.join(', ')}`)
          sentRecords.push({ ...record, seenAt: recording.writeCount() })
        }
        return transaction.commit(writes, mode)
      },
    }))
  }
  const writers = createCrashingWriters({
    open: openObserved,
    clock,
    random,
    isAtomic,
    onCrash: (ids, written) => trace.note(ids, `the writer dies and has written ${written}`),
  })
  const recording = createRecording({
    random,
    clock,
    history,
    writers,
    trace,
    crashChance: 0.15,
    hasSilentWrites: random.chance(0.4),
    onWritten: async () => {},
  })

  // Deliveries.
  const limits = random.pick([
    { total: 256, restricted: 64 },
    { total: 3, restricted: 1 },
  ])
  const endpoints = createEndpointHistory({
    random,
    clock,
    webhooks: stores.webhooks,
    secrets: SECRETS,
    changingAccount,
    prefix: `${seed}-`,
    trace,
    awaitDirectories: () => advance(STALE_MS),
  })
  const walk = { history, violations, steadyAccounts, recording }
  const log = createDeliveryLog(clock, createRandom(seed, 18, 1), (record) =>
    checkDurable(walk, asSent(record), readView),
  )
  const requestChecks = createRequestChecks({ clock, history, endpoints, log, trace, violations })
  const endpointOf = (url: string) => endpoints.byUrl(url)?.id ?? url
  const loadChecks = createLoadChecks({
    clock,
    limits,
    reads: log.reads,
    endpointOf,
    violations,
  })
  let requests = 0
  const receivers = createReceivers({
    random,
    clock,
    onRequest(flight) {
      requests += 1
      requestChecks.onRequest(flight)
      loadChecks.onRequest(flight)
    },
    onResponse(flight, result) {
      requestChecks.onResponse(flight, result)
      loadChecks.onResponse(flight, result)
      if (result.error === null && !isSettling && random.chance(0.03)) {
        trace.note([], 'the dispatcher dies after a 2xx, before it is stored')
        dispatcher.die()
      }
    },
  })
  const delays = random.chance(0.5) ? SHORT_SCHEDULE_S : undefined
  let dispatchers = 0
  let isSettling = false

  function start(): DispatcherProcess {
    dispatchers += 1
    return startDispatcher(
      dispatchers,
      mutate({
        stores: log.observe(stores.webhooks),
        orders: log.observeViews(stores.orders),
        sender: receivers.senderOf(dispatchers),
        sign: createSigner(SECRETS),
        sendNotice: null,
        schedule: createRetrySchedule(delays, random.next),
        clock,
        monotonic: clock,
        limits,
      }),
    )
  }

  async function restart(): Promise<void> {
    receivers.drop(dispatcher.id)
    await dispatcher.end()
    trace.note([], 'another dispatcher starts')
    dispatcher = start()
  }

  /** Lets time pass, and the dispatcher do what is due then. */
  async function advance(ms: number): Promise<void> {
    const until = nowMs + ms
    // A jump must not separate a change or a read of the endpoints from its use.
    for (const at of [nowMs, nowMs + REFRESH_MS]) if (at < until) await advanceTo(at)
    // Each response arrives in time, however far the clock jumps.
    for (let at = receivers.nextDueAt(); at < until; at = receivers.nextDueAt()) {
      await advanceTo(Math.max(at, nowMs))
    }
    await advanceTo(until)
  }

  async function advanceTo(atMs: number): Promise<void> {
    await refresh() // Dispatchers find at once what was written until now.
    nowMs = atMs
    receivers.respond()
    await untilIdle(log.activity, dispatcher.isDead)
    if (dispatcher.isDead()) {
      await restart()
      await untilIdle(log.activity, dispatcher.isDead)
    }
  }

  async function settle(): Promise<void> {
    isSettling = true
    receivers.heal()
    await recording.settle()
    await writers.end()
    await restart()
    await advance(SETTLE_MS)
    await endpoints.enableAll()
    for (let round = 0; round < MAX_ROUNDS; round++) {
      await advance(random.between(10_000, SETTLE_MS))
      const pending = await stores.webhooks.deliveries.nextDueByEndpoint()
      if (pending.size === 0 && round > 1) return
    }
    violations.add(4, '', 'deliveries stay pending')
  }

  for (const accountId of steadyAccounts) {
    const settings = { accountId, url: '', events: ['*'], description: null }
    await endpoints.create({ ...settings, payload: 'full' })
    if (random.chance(0.5)) await endpoints.create({ ...settings, payload: 'thin' })
  }
  nowMs += 5_000
  let dispatcher = start()
  for (let step = 0; step < STEPS; step++) {
    const chance = random.next()
    if (chance < 0.4) recording.change()
    else if (chance < 0.7) await recording.write()
    else if (chance < 0.73) await recording.replaceWriter()
    else if (chance < 0.8) await endpoints.change()
    else if (chance < 0.83) {
      trace.note([], 'the dispatcher dies')
      dispatcher.die()
      if (random.chance(0.3)) await restart() // Otherwise, when the clock advances.
    } else await advance(random.pick(ADVANCES_MS))
  }
  await settle()

  const versionRecords = await readVersionRecords()
  for (const orderId of history.orderIds()) {
    const records = log.records.filter((record) => record.orderId === orderId)
    checkAtRest(walk, orderId, records.map(asSent), versionRecords.get(orderId))
  }
  const { deliveries, endpoints: stored } = stores.webhooks
  await checkDeliveries({ log, endpoints, deliveries, endpointById: stored.byId, violations })
  await endpoints.deleteAll()
  await advance(SETTLE_MS)
  await dispatcher.end()

  /** A record as a writer sent it first. */
  function asSent(record: EventRecord): SeenRecord {
    const { orderId, version, recordedAt, events } = record
    const sent = sentRecords.find((candidate) =>
      isDeepStrictEqual(
        [candidate.orderId, candidate.version, candidate.recordedAt, candidate.events],
        [orderId, version, recordedAt, events],
      ),
    )
    return sent ?? { ...record, seenAt: 0 }
  }

  async function readVersionRecords(): Promise<Map<string, OrderVersionRecord>> {
    const index = await openAtStart()
    const lock = await index.lock(history.orderIds())
    const found = await (await lock.begin()).versionRecords(history.orderIds())
    lock.release()
    await index.close()
    return found
  }

  const report = violations
    .all()
    .slice(0, 3)
    .map(
      ({ invariant, orderId, message }) =>
        `seed ${seed}, invariant ${invariant}, ${orderId}: ${message}\n${trace.of(orderId)}`,
    )
    .join('\n')
  return { violations: violations.all(), requests, dispatchers, report }
}
