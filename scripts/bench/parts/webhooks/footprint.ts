import { setTimeout as sleep } from 'node:timers/promises'
import type { RunningService } from '../../../../test/harness/processes/service.ts'
import { median } from '../../../../test/harness/statistics.ts'
import { treeMicros } from '../../measuring/cpu.ts'
import { race, scenarioOf } from '../../measuring/race.ts'
import { type Sample, valuesOf } from '../../report.ts'
import { createDeliveries, insertEndpoints, newEndpoint, pendingDelivery } from './endpoints.ts'
import type { MeasurementContext, WebhookMeasurement } from './measurement.ts'
import { openStage, type Stage, type StageKind, stageKinds, writeChanges } from './stage.ts'
import { renderTargets } from './targets.ts'

const GROUP = 'footprint'
const ACCOUNT = 'acc_footprint'
/** That share the pending deliveries. */
const ENDPOINTS = 100
/** A started process still compiles and collects garbage. */
const SETTLING_MS = 10_000
const MIN_WINDOW_MS = 20_000
const SAMPLE_MS = 500
const MEMORY_LEGEND = `pending: deliveries that are due at ${ENDPOINTS} endpoints that answer 503; none: the same endpoints without them
MB: the median RSS of the process that delivers`
const IDLE_LEGEND = 'the CPU time of the process that delivers, while nothing happens'

/** The memory that waiting deliveries take in the dispatcher. */
export const memoryMeasurement: WebhookMeasurement = {
  name: 'memory',
  about: 'the memory of the dispatcher with many pending deliveries',
  async measure(context, scope) {
    const { receiver, options } = context
    await receiver.behave(GROUP, { mode: 'refuse' })
    const scenarios = []
    for (const kind of stageKinds) {
      const none = await openWaiting(context, { kind, pending: 0 }, scope)
      const pending = await openWaiting(context, { kind, pending: options.pending }, scope)
      const measures = {
        none: () => measureProcess(context, none),
        pending: () => measureProcess(context, pending),
      }
      scenarios.push(scenarioOf(kind, measures))
    }
    const results = await race(scenarios, context)
    const notes = results.flatMap((result) => {
      const megabytes = (of: string) => median(valuesOf(result, of, 'megabytes'))
      const value = megabytes('pending') - megabytes('none')
      return renderTargets([{ name: `${result.name}, MB more`, value, atMost: 50 }])
    })
    const title = `${options.pending} pending deliveries`
    return { sections: [{ title, results, base: 'none', notes: [MEMORY_LEGEND, ...notes] }] }
  },
}

/** What endpoints cost that receive nothing. */
export const idleMeasurement: WebhookMeasurement = {
  name: 'idle',
  about: 'the CPU time of the dispatcher with many idle endpoints',
  async measure(context, scope) {
    const { receiver, options } = context
    const scenarios = []
    for (const kind of stageKinds) {
      const open = async (count: number) => {
        const stage = await openStage(context, kind, scope)
        const endpoints = Array.from({ length: count }, (_, at) =>
          newEndpoint({ accountId: `acc_idle_${at}`, url: receiver.urlOf(GROUP, at) }),
        )
        await insertEndpoints(stage.services.webhooks, endpoints)
        return stage
      }
      const [none, idle] = [await open(0), await open(options.idle)]
      const measures = {
        none: () => measureProcess(context, none),
        idle: () => measureProcess(context, idle),
      }
      scenarios.push(scenarioOf(kind, measures))
    }
    const results = await race(scenarios, context)
    const notes = results.flatMap((result) => {
      const percent = (of: string) => median(valuesOf(result, of, 'corePercent'))
      const value = percent('idle') - percent('none')
      return renderTargets([{ name: `${result.name}, % of a core more`, value, atMost: 1 }])
    })
    const title = `${options.idle} idle endpoints`
    return { sections: [{ title, results, base: 'none', notes: [IDLE_LEGEND, ...notes] }] }
  },
}

/** Endpoints that fail, with so many deliveries due. Each endpoint has one for every order. */
async function openWaiting(
  context: MeasurementContext,
  { kind, pending }: { kind: StageKind; pending: number },
  scope: AsyncDisposableStack,
): Promise<Stage> {
  const { receiver, signal, log } = context
  const stage = await openStage(context, kind, scope)
  const { webhooks } = stage.services
  const orders = [...stage.orders.changes(Math.ceil(pending / ENDPOINTS), [ACCOUNT])]
  await writeChanges(stage, orders, signal)
  const endpoints = Array.from({ length: ENDPOINTS }, (_, at) =>
    newEndpoint({ accountId: ACCOUNT, url: receiver.urlOf(GROUP, at) }),
  )
  await insertEndpoints(webhooks, endpoints)
  if (pending > 0) log(`storing ${pending} deliveries: ${kind} …`)
  const recordedAt = Date.now()
  function* deliveries() {
    for (const [at, { orderId }] of orders.entries()) {
      for (const [of, endpoint] of endpoints.entries()) {
        const serial = at * ENDPOINTS + of
        yield pendingDelivery(endpoint, { serial, orderId, sequence: 1 }, recordedAt + at)
      }
    }
  }
  await createDeliveries(webhooks, deliveries().take(pending), signal)
  return stage
}

/** Memory and CPU time of a dispatcher that has settled. */
async function measureProcess(
  { options, signal }: MeasurementContext,
  stage: Stage,
): Promise<Sample> {
  await using dispatcher = await stage.startDispatcher()
  await sleep(SETTLING_MS, undefined, { signal })
  const before = await treeMicros(dispatcher.pid)
  const startedAt = performance.now()
  await sleep(Math.max(MIN_WINDOW_MS, 1000 * options.seconds), undefined, { signal })
  const micros = (await treeMicros(dispatcher.pid)) - before
  const corePercent = micros / (10 * (performance.now() - startedAt))
  return { corePercent, megabytes: await medianMegabytes(dispatcher, signal) }
}

/** After the CPU time, since every reading costs some. */
async function medianMegabytes(service: RunningService, signal: AbortSignal): Promise<number> {
  const megabytes: number[] = []
  for (let at = 0; at < 10; at += 1) {
    megabytes.push((await service.residentBytes()) / 2 ** 20)
    await sleep(SAMPLE_MS, undefined, { signal })
  }
  return median(megabytes)
}
