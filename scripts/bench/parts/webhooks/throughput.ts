import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openScratch } from '../../../../test/harness/processes/scratch.ts'
import {
  type RunningApi,
  type RunningService,
  startServer,
} from '../../../../test/harness/processes/service.ts'
import { CPU_RENEWAL_MS, treeMicros } from '../../measuring/cpu.ts'
import { differencePer, race, scenarioOf } from '../../measuring/race.ts'
import { combined, ratioOf, type Sample } from '../../report.ts'
import { failuresOf, type GroupCounts } from './arrivals.ts'
import { subscribe } from './latency.ts'
import {
  type MeasurementContext,
  SETTLED_MS,
  STALLED_MS,
  type WebhookMeasurement,
} from './measurement.ts'
import { programFile } from './receiver-process.ts'
import { openStage, type Stage, writeChanges } from './stage.ts'
import { renderTargets } from './targets.ts'

const GROUP = 'throughput'
const ENDPOINTS = 100
/** As many as the dispatcher uses for all endpoints. */
const RAW_CONNECTIONS = 256
/** Deliveries of a measurement, for each second of `--seconds`. */
const PER_SECOND = 2_000
const WARM_UP_SHARE = 0.25
const PER_CPU = { of: 'webhooks', per: 'raw', figure: 'perCpuSecond' } as const
const LEGEND = `raw: a loop of undici in a process of its own that POSTs the same bodies to the same receiver
webhooks: from the event records to the stored results, in the process that delivers; /CPU s: deliveries a second of its CPU time`

/** Deliveries a second, and a second of CPU time, against a raw loop with the same bodies. */
export const throughputMeasurement: WebhookMeasurement = {
  name: 'throughput',
  about: 'deliveries a second and a CPU second, against a raw loop of undici',
  async measure(context, scope) {
    const { receiver, options, log } = context
    const count = PER_SECOND * options.seconds
    const embedded = await openSubscribedStage(context, 'embedded', scope)
    const shared = await openSubscribedStage(context, 'OpenSearch', scope)
    const server = scope.use(await embedded.stage.startDispatcher())
    log('warming up …')
    await receiver.reset(GROUP)
    await deliverLive(context, embedded, server, Math.ceil(WARM_UP_SHARE * count))
    const raw = scope.use(await startRawSender(context, scope))
    const contenders = {
      raw: () => sendRaw(context, raw, count),
      webhooks: () => deliverLive(context, embedded, server, count),
    }
    const backlog = { webhooks: () => deliverBacklog(context, shared, count) }
    const scenarios = [scenarioOf('embedded', contenders), scenarioOf('OpenSearch', backlog)]
    const results = await race(scenarios, context)
    const [onSqlite, onOpenSearch] = results
    const notes = renderTargets([
      ...(onSqlite === undefined
        ? []
        : [
            {
              name: 'embedded, deliveries a CPU second ÷ raw',
              value: ratioOf(onSqlite, PER_CPU),
              atLeast: 0.6,
            },
          ]),
      ...(onOpenSearch === undefined
        ? []
        : [
            {
              name: 'OpenSearch, deliveries a second',
              value: combined(onOpenSearch, 'webhooks', 'perSecond'),
              atLeast: 1_000,
            },
          ]),
    ])
    const title = `${count} webhooks to ${ENDPOINTS} endpoints`
    const ratios = [{ name: 'deliveries a CPU second webhooks÷raw', ...PER_CPU }]
    return { sections: [{ title, results, base: 'raw', ratios, notes: [LEGEND, ...notes] }] }
  },
}

interface SubscribedStage {
  stage: Stage
  /** Each with one endpoint. */
  accountIds: readonly string[]
}

async function openSubscribedStage(
  context: MeasurementContext,
  kind: Stage['kind'],
  scope: AsyncDisposableStack,
): Promise<SubscribedStage> {
  const stage = await openStage(context, kind, scope)
  return { stage, accountIds: await subscribe(context, stage, { group: GROUP, count: ENDPOINTS }) }
}

/** New orders, while the dispatcher runs. */
async function deliverLive(
  context: MeasurementContext,
  { stage, accountIds }: SubscribedStage,
  { pid }: RunningService,
  count: number,
): Promise<Sample> {
  const { receiver, signal } = context
  await receiver.reset(GROUP)
  const changes = [...stage.orders.changes(count, accountIds)]
  const before = await treeMicros(pid)
  await writeChanges(stage, changes, signal)
  const counts = await awaitDeliveries(context, changes)
  return await deliveryFigures(context, changes, counts, (await treeMicros(pid)) - before)
}

/** New orders before the dispatcher starts. */
async function deliverBacklog(
  context: MeasurementContext,
  { stage, accountIds }: SubscribedStage,
  count: number,
): Promise<Sample> {
  const { receiver, readCpu, signal } = context
  await receiver.reset(GROUP)
  const changes = [...stage.orders.changes(count, accountIds)]
  await writeChanges(stage, changes, signal)
  await sleep(CPU_RENEWAL_MS, undefined, { signal })
  await using dispatcher = await stage.startDispatcher()
  const read = async () => {
    const { openSearchMicros } = await readCpu()
    return { openSearchMicros, processMicros: await treeMicros(dispatcher.pid) }
  }
  const before = await read()
  const counts = await awaitDeliveries(context, changes)
  await sleep(CPU_RENEWAL_MS, undefined, { signal })
  const after = await read()
  const micros = after.processMicros - before.processMicros
  const cpu = differencePer(count, before, after)
  return { ...(await deliveryFigures(context, changes, counts, micros)), ...cpu }
}

/** Returns when every event arrived and its result is stored. */
async function awaitDeliveries(
  { receiver, signal }: MeasurementContext,
  { length }: readonly object[],
): Promise<GroupCounts> {
  const counts = await receiver.received(GROUP, length, { signal, stalledMs: STALLED_MS })
  await sleep(SETTLED_MS, undefined, { signal })
  return counts
}

async function deliveryFigures(
  { receiver }: MeasurementContext,
  changes: readonly { orderId: string }[],
  counts: GroupCounts,
  micros: number,
): Promise<Sample> {
  const orderIds = changes.map(({ orderId }) => orderId)
  const arrivals = await receiver.arrivals(GROUP)
  const failures = failuresOf(orderIds, arrivals, ({ orderId }) => orderId)
  return { ...rates(counts, micros), failures }
}

/** The rate between the first and the last arrival, and by CPU time. */
export function rates({ arrivals, firstAtMs, lastAtMs }: GroupCounts, micros: number): Sample {
  return {
    answers: arrivals,
    perSecond: (1000 * arrivals) / (lastAtMs - firstAtMs),
    perCpuSecond: (1e6 * arrivals) / micros,
    processMicros: micros / arrivals,
  }
}

/** With the bodies that the receiver kept of the warm-up. */
async function startRawSender(
  { receiver }: MeasurementContext,
  scope: AsyncDisposableStack,
): Promise<RunningApi> {
  const scratch = await openScratch('bench-bodies')
  scope.defer(scratch.close)
  const file = join(scratch.path, 'bodies.json')
  const bodies = await receiver.bodies()
  if (bodies.length === 0) throw new Error('the warm-up delivered no webhook')
  await writeFile(file, JSON.stringify(bodies))
  const args = [receiver.urlOf(GROUP, 'raw'), file, `${RAW_CONNECTIONS}`]
  const sender = await startServer({ program: programFile('raw-sender.ts'), args })
  await runRaw(sender, Math.ceil(WARM_UP_SHARE * PER_SECOND))
  return sender
}

async function runRaw({ origin }: RunningApi, count: number): Promise<void> {
  const response = await fetch(`${origin}/${count}`, { method: 'POST' })
  if (!response.ok) throw new Error(`the raw loop failed: ${await response.text()}`)
}

async function sendRaw(
  { receiver }: MeasurementContext,
  sender: RunningApi,
  count: number,
): Promise<Sample> {
  await receiver.reset(GROUP)
  const before = await treeMicros(sender.pid)
  await runRaw(sender, count)
  return rates(await receiver.counts(GROUP), (await treeMicros(sender.pid)) - before)
}
