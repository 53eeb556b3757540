import { race } from '../../measuring/race.ts'
import { combined, type Sample } from '../../report.ts'
import { latencyFigures } from './arrivals.ts'
import { insertEndpoints, newEndpoint } from './endpoints.ts'
import { type MeasurementContext, STALLED_MS, type WebhookMeasurement } from './measurement.ts'
import { openStage, type Stage, type StageKind, writeAtPace } from './stage.ts'
import { renderTargets } from './targets.ts'

const ENDPOINTS = 100
/** Writes a second. */
const RATE = 50
const WARM_UP_SECONDS = 3
const LEGEND = `from the confirmation of a write until the receiver has the whole POST, at ${RATE} writes a second`

/** The delay from a confirmed write to the receiver, at a modest rate. */
export const latencyMeasurement: WebhookMeasurement = {
  name: 'latency',
  about: 'from a confirmed write to the receiver',
  async measure(context, scope) {
    const { options, log } = context
    const open = async (kind: StageKind) => {
      const stage = await openStage(context, kind, scope)
      const accountIds = await subscribe(context, stage, { group: kind, count: ENDPOINTS })
      scope.use(await stage.startDispatcher())
      const follow = (seconds: number) =>
        measureLatency(context, stage, { group: kind, accountIds, rate: RATE, seconds })
      log(`warming up: ${kind} …`)
      await follow(WARM_UP_SECONDS)
      return { name: kind, measure: () => follow(options.seconds) }
    }
    const contenders = [await open('embedded'), await open('OpenSearch')]
    const results = await race([{ name: '', contenders }], context)
    const notes = results.flatMap((result) =>
      renderTargets([
        {
          name: 'embedded, p99 ms',
          value: combined(result, 'embedded', 'p99Ms'),
          atMost: 250,
        },
        {
          name: 'OpenSearch, p50 ms',
          value: combined(result, 'OpenSearch', 'p50Ms'),
          atMost: 400,
        },
        {
          name: 'OpenSearch, p99 ms',
          value: combined(result, 'OpenSearch', 'p99Ms'),
          atMost: 1_000,
        },
      ]),
    )
    const title = 'The latency of webhooks'
    return { sections: [{ title, results, notes: [LEGEND, ...notes] }] }
  },
}

/** Gives each of so many new accounts one endpoint of a group, and returns the accounts. */
export async function subscribe(
  { receiver }: Pick<MeasurementContext, 'receiver'>,
  { services }: Pick<Stage, 'services'>,
  { group, count }: { group: string; count: number },
): Promise<string[]> {
  const accountIds = Array.from({ length: count }, (_, at) => `acc_${group}_${at}`)
  const endpoints = accountIds.map((accountId, at) =>
    newEndpoint({ accountId, url: receiver.urlOf(group, at) }),
  )
  await insertEndpoints(services.webhooks, endpoints)
  return accountIds
}

interface LatencyPlan {
  group: string
  accountIds: readonly string[]
  rate: number
  seconds: number
}

/** Writes new orders at a rate, and waits until the group received their events. */
export async function measureLatency(
  { receiver, signal }: MeasurementContext,
  stage: Stage,
  { group, accountIds, rate, seconds }: LatencyPlan,
): Promise<Sample> {
  await receiver.reset(group)
  const changes = [...stage.orders.changes(rate * seconds, accountIds)]
  const confirmedAt = await writeAtPace(stage, changes, { rate, signal })
  await receiver.received(group, confirmedAt.size, { signal, stalledMs: STALLED_MS })
  return latencyFigures(confirmedAt, await receiver.arrivals(group))
}
