import { join } from 'node:path'
import { openScratch, type Scratch } from '../../../../test/harness/processes/scratch.ts'
import { runLoad, writeLines } from '../../measuring/load-command.ts'
import { race } from '../../measuring/race.ts'
import { type Ratio, ratioOf, type Sample } from '../../report.ts'
import { insertEndpoints, newEndpoint } from './endpoints.ts'
import type { MeasurementContext, WebhookMeasurement } from './measurement.ts'
import { createNewOrders } from './new-orders.ts'
import { openStage, type StageKind, stageKinds } from './stage.ts'
import { renderTargets } from './targets.ts'

const ACCOUNTS = Array.from({ length: 100 }, (_, at) => `acc_loaded_${at}`)
/** The JVM compiles on first use. */
const WARM_UP_ORDERS = 5_000
const SHARES = { none: 0, '10 %': 0.1 }
const SUBSCRIBED = { of: '10 %', per: 'none' } as const
const LOADED: Ratio = { name: 'load 10 %÷none', ...SUBSCRIBED, figure: 'perSecond' }
const COST: Ratio = {
  name: 'load µs 10 %÷none',
  ...SUBSCRIBED,
  figure: 'processMicros',
  isCost: true,
}
const LEGEND = `index load --live of orders of ${ACCOUNTS.length} accounts, into new stores; 10 %: of the accounts have an endpoint; process µs: CPU time of the load for an order
the comparison with an earlier commit: --only load --against DIR`

/** What recording events costs the writer. */
export const writersMeasurement: WebhookMeasurement = {
  name: 'writers',
  about: 'index load with a tenth of the accounts subscribed',
  async measure(context, scope) {
    const { options, log } = context
    const scratch = await openScratch('bench-writers')
    scope.defer(scratch.close)
    log('warming up …')
    const warmUp = await writeOrders(scratch, Math.min(WARM_UP_ORDERS, options.loadOrders))
    for (const kind of stageKinds)
      await measureLoad(context, { kind, share: 1, file: warmUp, scratch })
    const file = await writeOrders(scratch, options.loadOrders)
    const scenarios = stageKinds.map((kind) => ({
      name: kind,
      contenders: Object.entries(SHARES).map(([name, share]) => {
        return { name, measure: () => measureLoad(context, { kind, share, file, scratch }) }
      }),
    }))
    const results = await race(scenarios, context)
    const notes = results.flatMap((result) =>
      renderTargets([
        { name: `${result.name}, orders a second`, value: ratioOf(result, LOADED), atLeast: 0.9 },
        { name: `${result.name}, CPU time`, value: ratioOf(result, COST), atMost: 1.1 },
      ]),
    )
    const title = `The load of ${options.loadOrders} orders with webhooks`
    return {
      sections: [
        { title, results, base: 'none', ratios: [LOADED, COST], notes: [LEGEND, ...notes] },
      ],
    }
  },
}

async function writeOrders(scratch: Scratch, count: number): Promise<string> {
  const file = join(scratch.path, `${count}.ndjson`)
  const orders = createNewOrders(Date.now())
  const places = Iterator.from(Array(count).keys())
  const rendered = places.map((at) =>
    JSON.stringify(orders.next(ACCOUNTS[at % ACCOUNTS.length] ?? '')),
  )
  await writeLines(file, rendered)
  return file
}

interface LoadPlan {
  kind: StageKind
  /** Of the accounts that have an endpoint. */
  share: number
  file: string
  scratch: Scratch
}

/** With the CPU time of the loading process, which a busy machine changes less than the rate. */
async function measureLoad(
  context: MeasurementContext,
  { kind, share, file, scratch }: LoadPlan,
): Promise<Sample> {
  await using scope = new AsyncDisposableStack()
  const stage = await openStage(context, kind, scope)
  const subscribed = ACCOUNTS.slice(0, Math.round(share * ACCOUNTS.length))
  const endpoints = subscribed.map((accountId, at) =>
    newEndpoint({ accountId, url: context.receiver.urlOf('writers', at) }),
  )
  await insertEndpoints(stage.services.webhooks, endpoints)
  const load = await runLoad(scratch, file, stage.settings, { mode: '--live' })
  const { read, written, seconds, cpuMicros } = load
  if (read !== written) throw new Error(`the load wrote ${written} of ${read} orders`)
  return { perSecond: written / seconds, loadSeconds: seconds, processMicros: cpuMicros / written }
}
