import { setTimeout as sleep } from 'node:timers/promises'
import { poll } from '../../../../test/harness/processes/poll.ts'
import { race } from '../../measuring/race.ts'
import { combined, type Sample } from '../../report.ts'
import { disorderOf, failuresOf } from './arrivals.ts'
import { createDeliveries, insertEndpoints, newEndpoint, pendingDelivery } from './endpoints.ts'
import {
  type MeasurementContext,
  SETTLED_MS,
  STALLED_MS,
  type WebhookMeasurement,
} from './measurement.ts'
import { openStage, type StageKind, stageKinds, writeChanges } from './stage.ts'
import { renderTargets } from './targets.ts'

const GROUP = 'recovery'
const ACCOUNT = 'acc_recovery'
/** Of each order, so that their order counts too. */
const EVENTS_PER_ORDER = 10
/** With instant responses, there would hardly be two requests at a time. */
const ANSWER_MS = 5
const MAX_IN_FLIGHT = 32
const BREAKER_MS = 60_000
const LEGEND = `an endpoint answers 503 until its circuit breaker opens, then 200 after ${ANSWER_MS} ms; ${EVENTS_PER_ORDER} events of each order wait
/s: from its first to its last success; in flight: the most that the receiver saw at once`

/** An endpoint that works again, with many deliveries waiting. */
export const recoveryMeasurement: WebhookMeasurement = {
  name: 'recovery',
  about: 'an endpoint that works again, with many deliveries waiting',
  async measure(context) {
    const contenders = stageKinds.map((kind) => {
      return { name: kind, measure: () => measureRecovery(context, kind) }
    })
    const results = await race([{ name: '', contenders }], context)
    const notes = results.flatMap((result) =>
      renderTargets(
        stageKinds.map((kind) => {
          const value = combined(result, kind, 'inFlight')
          return { name: `${kind}, in flight`, value, atMost: MAX_IN_FLIGHT }
        }),
      ),
    )
    const title = `An endpoint that works again, with ${context.options.waiting} deliveries waiting`
    return { sections: [{ title, results, notes: [LEGEND, ...notes] }] }
  },
}

async function measureRecovery(context: MeasurementContext, kind: StageKind): Promise<Sample> {
  await using scope = new AsyncDisposableStack()
  const { receiver, options, signal } = context
  const stage = await openStage(context, kind, scope)
  const { webhooks } = stage.services
  const endpoint = newEndpoint({ accountId: ACCOUNT, url: receiver.urlOf(GROUP, 'endpoint') })
  const orders = [...stage.orders.changes(Math.ceil(options.waiting / EVENTS_PER_ORDER), [ACCOUNT])]
  await writeChanges(stage, orders, signal)
  await insertEndpoints(webhooks, [endpoint])
  const deliveries = Array.from({ length: options.waiting }, (_, serial) => {
    const orderId = orders[serial % orders.length]?.orderId ?? ''
    const sequence = 1 + Math.floor(serial / orders.length)
    return pendingDelivery(endpoint, { serial, orderId, sequence }, endpoint.createdAt + serial)
  })
  await createDeliveries(webhooks, deliveries, signal)

  await receiver.behave(GROUP, { mode: 'refuse' })
  scope.use(await stage.startDispatcher())
  await poll(
    async () => (await webhooks.endpoints.byId(endpoint.id))?.isBreakerOpen === true,
    async () => 'the circuit breaker did not open',
    { timeoutMs: BREAKER_MS, intervalMs: 100, shouldAbort: () => signal.aborted },
  )
  await receiver.reset(GROUP)
  await receiver.behave(GROUP, { mode: 'accept', delayMs: ANSWER_MS })
  await receiver.received(GROUP, deliveries.length, { signal, stalledMs: STALLED_MS })
  await sleep(SETTLED_MS, undefined, { signal }) // A repetition would follow.
  const { arrivals, maxInFlight, firstAtMs, lastAtMs } = await receiver.counts(GROUP)
  const received = await receiver.arrivals(GROUP)
  const eventIds = deliveries.map(({ event }) => event.id)
  return {
    answers: arrivals,
    perSecond: (1000 * arrivals) / (lastAtMs - firstAtMs),
    inFlight: maxInFlight,
    failures: { ...failuresOf(eventIds, received), ...disorderOf(received) },
  }
}
