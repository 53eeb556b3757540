import { race, scenarioOf } from '../../measuring/race.ts'
import { type Ratio, ratioOf, type Sample } from '../../report.ts'
import { createDeliveries, insertEndpoints, newEndpoint, pendingDelivery } from './endpoints.ts'
import { measureLatency, subscribe } from './latency.ts'
import { type MeasurementContext, STALLED_MS, type WebhookMeasurement } from './measurement.ts'
import { openStage, type Stage, type StageKind, stageKinds, writeChanges } from './stage.ts'
import { renderTargets } from './targets.ts'

const [HEALTHY, DEAD] = ['healthy', 'dead']
const HEALTHY_ENDPOINTS = 100
/** New orders of the healthy ones when the dispatcher starts. */
const BACKLOG = 10_000
/** Waiting for each dead one. */
const DEAD_DELIVERIES = 20
const RATE = 50
const BESIDE = { of: 'beside dead', per: 'alone' } as const
const THROUGHPUT: Ratio = { name: 'throughput beside dead÷alone', ...BESIDE, figure: 'perSecond' }
const P99: Ratio = { name: 'p99 beside dead÷alone', ...BESIDE, figure: 'p99Ms', isCost: true }
const LEGEND = `dead: endpoints that accept a connection and never answer, each with ${DEAD_DELIVERIES} deliveries due when the dispatcher starts
/s: of the first ${BACKLOG} webhooks to ${HEALTHY_ENDPOINTS} healthy endpoints, from the start of the dispatcher; the latencies are those of ${RATE} writes a second after it`

/** What endpoints that never respond cost the others. */
export const deadEndpointsMeasurement: WebhookMeasurement = {
  name: 'dead',
  about: 'healthy endpoints beside those that never respond',
  async measure(context) {
    const { receiver, options } = context
    await receiver.behave(DEAD, { mode: 'hang' })
    const scenarios = stageKinds.map((kind) =>
      scenarioOf(kind, {
        alone: () => measureHealthy(context, kind, 0),
        'beside dead': () => measureHealthy(context, kind, options.dead),
      }),
    )
    const results = await race(scenarios, context)
    const notes = results.flatMap((result) =>
      renderTargets([
        {
          name: `${result.name}, throughput ÷ alone`,
          value: ratioOf(result, THROUGHPUT),
          atLeast: 0.9,
        },
        { name: `${result.name}, p99 ÷ alone`, value: ratioOf(result, P99), atMost: 1.5 },
      ]),
    )
    const title = `Healthy endpoints beside ${options.dead} dead ones`
    const ratios = [THROUGHPUT, P99]
    return { sections: [{ title, results, base: 'alone', ratios, notes: [LEGEND, ...notes] }] }
  },
}

/** In stores of its own, since the dispatcher remembers which endpoints fail. */
async function measureHealthy(
  context: MeasurementContext,
  kind: StageKind,
  dead: number,
): Promise<Sample> {
  await using scope = new AsyncDisposableStack()
  const { receiver, options, signal } = context
  const stage = await openStage(context, kind, scope)
  const accountIds = await subscribe(context, stage, { group: HEALTHY, count: HEALTHY_ENDPOINTS })
  if (dead > 0) await addDead(context, stage, dead)
  for (const group of [HEALTHY, DEAD]) await receiver.reset(group)
  await writeChanges(stage, stage.orders.changes(BACKLOG, accountIds), signal)
  const startedAt = performance.timeOrigin + performance.now()
  scope.use(await stage.startDispatcher())
  const counts = await receiver.received(HEALTHY, BACKLOG, { signal, stalledMs: STALLED_MS })
  const perSecond = (1000 * counts.arrivals) / (counts.lastAtMs - startedAt)
  const plan = { group: HEALTHY, accountIds, rate: RATE, seconds: options.seconds }
  const latency = await measureLatency(context, stage, plan)
  const isTried = (await receiver.counts(DEAD)).maxInFlight > 0
  if (isTried !== dead > 0) throw new Error('the dispatcher did not try the dead endpoints')
  return { ...latency, perSecond }
}

/** Endpoints of one account, whose orders wait for each of them. */
async function addDead(
  { receiver, signal }: MeasurementContext,
  stage: Stage,
  count: number,
): Promise<void> {
  const accountId = 'acc_dead'
  const { webhooks } = stage.services
  const orders = [...stage.orders.changes(DEAD_DELIVERIES, [accountId])]
  await writeChanges(stage, orders, signal)
  const endpoints = Array.from({ length: count }, (_, at) =>
    newEndpoint({ accountId, url: receiver.urlOf(DEAD, at) }),
  )
  await insertEndpoints(webhooks, endpoints)
  const recordedAt = Date.now()
  const deliveries = endpoints.flatMap((endpoint, e) =>
    orders.map(({ orderId }, o) => {
      const serial = e * orders.length + o
      return pendingDelivery(endpoint, { serial, orderId, sequence: 1 }, recordedAt)
    }),
  )
  await createDeliveries(webhooks, deliveries, signal)
}
