import { createRandom } from '../../../../src/demo/random.ts'
import type { NamedSecrets } from '../../../../src/lib/secrets/named-secret.ts'
import { readOrder } from '../../orders/read-order.ts'
import { checkDeliveries } from './checks/check-deliveries.ts'
import { checkAtRest, checkDurable, type ReadView } from './checks/check-records.ts'
import { createRequestChecks } from './checks/check-requests.ts'
import { createTrace } from './checks/trace.ts'
import { createViolations, reportViolations, type Violation } from './checks/violation.ts'
import { type MutateDispatcher, startDelivering } from './delivering/delivering.ts'
import { createDeliveryLog } from './delivering/delivery-log.ts'
import { createEndpointHistory, STALE_MS } from './delivering/endpoint-history.ts'
import type { WalkStores } from './walk-stores.ts'
import { createOrderWriting } from './writing/order-writing.ts'
import { createSourceHistory } from './writing/source-history.ts'

export interface DeliveryWalkResult {
  violations: readonly Violation[]
  /** The number of requests that receivers got. */
  requests: number
  /** The number of dispatchers. */
  dispatchers: number
  /** See {@link reportViolations}. */
  report: string
}

const START_MS = Date.parse('2026-03-01T12:00:00Z')
const STEPS = 60
const SECRETS: NamedSecrets = [{ kid: 'k1', secret: Buffer.alloc(32, 'model') }]
/** Between them, steps are at the same instant. */
const ADVANCES_MS = [1, 1_000, 6_000, 40_000, 200_000, 700_000, 4_000_000, 30_000_000]
/** Longer than the longest pause of a schedule or a circuit breaker. */
const SETTLE_MS = 13 * 3_600_000
const MAX_ROUNDS = 60

/** Delivers the events of a random history, and checks all invariants: see `model.md`. */
export async function walkDeliveries(
  seed: number,
  stores: WalkStores,
  mutate: MutateDispatcher = (options) => options,
): Promise<DeliveryWalkResult> {
  const random = createRandom(seed, 18, 0)
  const time = { nowMs: START_MS }
  const clock = () => time.nowMs
  const trace = createTrace(clock)
  const violations = createViolations()
  const accountOf = (name: string) => `acc_${name}_${seed}`
  const steadyAccounts = [accountOf('steady'), accountOf('other')]
  const changingAccount = accountOf('changing')
  const accounts = [...steadyAccounts, changingAccount, accountOf('without')]
  const history = createSourceHistory(random, { accounts, orderCount: 6, prefix: `ord_${seed}_` })
  const writing = createOrderWriting({ random, clock, stores, history, trace })
  const { recording } = writing
  const { webhooks } = stores
  const endpoints = createEndpointHistory({
    random,
    clock,
    webhooks,
    secrets: SECRETS,
    changingAccount,
    prefix: `${seed}-`,
    trace,
    awaitDirectories: () => delivering.advance(STALE_MS),
  })
  const recorded = { history, violations, steadyAccounts, recording }
  const readView: ReadView = (accountId, orderId) => readOrder(stores.orders, orderId, accountId)
  const log = createDeliveryLog(clock, createRandom(seed, 18, 1), (record) =>
    checkDurable(recorded, writing.asSent(record), readView),
  )

  for (const accountId of steadyAccounts) {
    const settings = { accountId, url: '', events: ['*'], description: null }
    await endpoints.create({ ...settings, payload: 'full' })
    if (random.chance(0.5)) await endpoints.create({ ...settings, payload: 'thin' })
  }
  time.nowMs += STALE_MS
  const delivering = startDelivering({
    random,
    clock: time,
    stores,
    endpoints,
    secrets: SECRETS,
    log,
    checks: createRequestChecks({ clock, history, endpoints, log, trace, violations }),
    violations,
    trace,
    mutate,
  })

  async function step(): Promise<void> {
    const chance = random.next()
    if (chance < 0.4) recording.change()
    else if (chance < 0.7) await recording.write()
    else if (chance < 0.73) await recording.replaceWriter()
    else if (chance < 0.8) await endpoints.change()
    else if (chance < 0.83) await delivering.crash()
    else await delivering.advance(random.pick(ADVANCES_MS))
  }

  async function settle(): Promise<void> {
    await writing.settle()
    await delivering.heal()
    await delivering.advance(SETTLE_MS)
    await endpoints.enableAll()
    for (let round = 0; round < MAX_ROUNDS; round++) {
      await delivering.advance(random.between(10_000, SETTLE_MS))
      const pending = await webhooks.deliveries.nextDueByEndpoint()
      if (pending.size === 0 && round > 1) return
    }
    violations.add(4, '', 'deliveries stay pending')
  }

  async function checkRest(): Promise<void> {
    const versionRecords = await writing.versionRecords()
    for (const orderId of history.orderIds()) {
      const records = log.records.filter((record) => record.orderId === orderId)
      checkAtRest(recorded, orderId, records.map(writing.asSent), versionRecords.get(orderId))
    }
    await checkDeliveries({ log, endpoints, webhooks, violations })
  }

  try {
    for (let count = 0; count < STEPS; count++) await step()
    await settle()
    await checkRest()
    await endpoints.deleteAll()
    await delivering.advance(SETTLE_MS)
  } finally {
    await delivering.end() // Its lease would make the dispatchers of later walks wait for ever.
  }

  return {
    violations: violations.all(),
    ...delivering.counts(),
    report: reportViolations(seed, violations.all(), trace),
  }
}
