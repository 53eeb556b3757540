import { hash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { demoOrders } from '../../../src/demo/demo-orders.ts'
import type { SourceOrderResults } from '../../../src/management/ingestion/ingestion.ts'
import {
  MAX_LINES,
  type SourceOrdersFormat,
} from '../../../src/management/ingestion/source-lines.ts'
import { openScratch } from '../../../test/harness/processes/scratch.ts'
import { type Settings, startService } from '../../../test/harness/processes/service.ts'
import type { BenchContext, Part } from '../context.ts'
import { runLoad } from '../measuring/load-command.ts'
import { race, type Scenario } from '../measuring/race.ts'
import { inChunks } from '../orders/stores.ts'
import type { Sample } from '../report.ts'

const SEED = 2
const WARM_UP_ORDERS = 2_000
/** Calls in progress at a time. */
const CALLS = 4
const FORMAT: SourceOrdersFormat = 'application/x-ndjson'
const TOKEN = 'bench'
const MANAGEMENT = {
  MANAGEMENT_PORT: '0',
  MANAGEMENT_TOKENS: `bench:admin:${hash('sha256', TOKEN)}`,
}
const LEGEND = `load: index load --live of a file; push: the same lines as POST /v1/source-orders to serve,
${MAX_LINES} a call and ${CALLS} calls at a time, written directly; /s: orders`

/** Orders pushed over HTTP against `index load` of the same orders, each into empty stores. */
export const ingestPart: Part = {
  name: 'ingest',
  about: 'orders pushed over HTTP against index load',
  async measure(context, scope) {
    const { options, log, settings } = context
    const scratch = await openScratch('bench-ingest')
    scope.defer(scratch.close)
    async function scenarios(count: number): Promise<Scenario[]> {
      const lines = [...demoOrders({ count, seed: SEED, until: Date.now() })].map(
        (order) => `${JSON.stringify(order)}\n`,
      )
      const file = join(scratch.path, `${count}.ndjson`)
      await writeFile(file, lines)
      const withStores = (own: Settings, measure: Measure) => () =>
        inEmptyStores(context, { ...settings, ...own, REDIS_URL: '' }, measure)
      const contenders = (own: Settings) => [
        { name: 'load', measure: withStores(own, (stores) => measureLoad(file, stores)) },
        { name: 'push', measure: withStores(own, (stores) => measurePush(lines, stores)) },
      ]
      return [
        { name: 'embedded', contenders: contenders({ OPENSEARCH_URL: '' }) },
        { name: 'OpenSearch', contenders: contenders({}) },
      ]
    }
    log('warming up …')
    for (const { contenders } of await scenarios(Math.min(WARM_UP_ORDERS, options.loadOrders))) {
      for (const { measure } of contenders) await measure()
    }
    const results = await race(await scenarios(options.loadOrders), context)
    const title = `${options.loadOrders} orders pushed over HTTP, and loaded`
    const name = 'orders a second push÷load'
    const ratios = [{ name, of: 'push', per: 'load', figure: 'perSecond' } as const]
    return { sections: [{ title, results, base: 'load', ratios, notes: [LEGEND] }] }
  },
}

type Measure = (settings: Settings) => Promise<Sample>

/** Measures with an empty folder and a separate prefix, and removes both. */
async function inEmptyStores(
  { cluster, prefix }: BenchContext,
  settings: Settings,
  measure: Measure,
): Promise<Sample> {
  await using scope = new AsyncDisposableStack()
  const scratch = await openScratch('bench-ingest-stores')
  scope.defer(scratch.close)
  const INDEX_PREFIX = `${prefix}ingest-`
  scope.defer(() => cluster.remove(INDEX_PREFIX))
  return await measure({ ...settings, INDEX_PREFIX, DATA_DIR: scratch.path })
}

async function measureLoad(file: string, settings: Settings): Promise<Sample> {
  await using scope = new AsyncDisposableStack()
  const scratch = await openScratch('bench-ingest-load')
  scope.defer(scratch.close)
  const { written, seconds, cpuMicros } = await runLoad(scratch, file, settings, { mode: '--live' })
  return { perSecond: written / seconds, processMicros: cpuMicros / written }
}

async function measurePush(lines: readonly string[], settings: Settings): Promise<Sample> {
  await using service = await startService({
    args: ['serve'],
    settings: { ...settings, ...MANAGEMENT },
    awaited: [/management at (http:[^"\s]+)/],
  })
  const bodies = inChunks(lines, MAX_LINES)
  let written = 0
  async function pushUntilDone(): Promise<void> {
    for (const body of bodies) {
      const count = await push(service.captured[0] ?? '', body.join(''))
      written += count // Not with `await`, which would add to the sum from before the call.
    }
  }
  const cpuBefore = await service.cpuMicros()
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: CALLS }, pushUntilDone))
  const seconds = (performance.now() - startedAt) / 1000
  const cpuMicros = (await service.cpuMicros()) - cpuBefore
  return { perSecond: written / seconds, processMicros: cpuMicros / written }
}

/** Returns how many orders were written. @throws Error for any other response */
async function push(origin: string, body: string): Promise<number> {
  const response = await fetch(`${origin}/v1/source-orders`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': FORMAT },
    body,
  })
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`)
  const { data } = (await response.json()) as SourceOrderResults
  return data.filter(({ result }) => result === 'written').length
}
