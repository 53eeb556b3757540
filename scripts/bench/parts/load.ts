import { createWriteStream } from 'node:fs'
import { join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { demoOrders } from '../../../src/demo/demo-orders.ts'
import { LOAD_BATCH, type LoadSummary } from '../../../src/indexing/sources/load.ts'
import { ordersDefinition } from '../../../src/stores/opensearch/index-definition.ts'
import { openScratch, type Scratch } from '../../../test/harness/processes/scratch.ts'
import { MAIN, type Settings } from '../../../test/harness/processes/service.ts'
import type { BenchContext, Part } from '../context.ts'
import { runIndexCommand } from '../measuring/command.ts'
import { CPU_RENEWAL_MS } from '../measuring/cpu.ts'
import { race } from '../measuring/race.ts'
import { inChunks, sendBulk } from '../orders/stores.ts'
import { type Figure, formatRatio, type Result, ratioOf, type Sample } from '../report.ts'

const SEED = 1
/** The JVM compiles on first use, so without a warm-up the first contender would pay for both. */
const WARM_UP_ORDERS = 5_000
const LEGEND = `raw: documents of orders in bulk requests, one at a time; load: index load, in a separate process
live: index load --live, instead of --history; embedded: index load into an empty embedded database
other: the same in the checkout of --against
/s: documents; OpenSearch µs: CPU time of a document; process µs: of an order, in the load`

/**
 * `index load` of source orders against sequential bulk requests with documents of the same kind.
 */
export const loadPart: Part = {
  name: 'load',
  about: 'index load against raw bulks',
  async measure(context, scope) {
    const { options, log } = context
    const scratch = await openScratch('bench-load')
    scope.defer(scratch.close)
    const measures = async (count: number) => {
      const file = join(scratch.path, `${count}.ndjson`)
      const sources = demoOrders({ count, seed: SEED, until: Date.now() })
      const lines = sources.map((order) => JSON.stringify(order))
      await writeLines(file, lines)
      const load = (command?: LoadCommand) => () => loadFile(context, scratch, file, command)
      const raw = () => sendRaw(context, count)
      const { against } = options
      if (against === undefined) return { raw, load: load() }
      const program = resolve(against, 'src', 'main.ts')
      const live = { mode: '--live' } as const
      const embedded = (command?: LoadCommand) => () => loadEmbedded(context, file, command)
      const own = { load: load(), live: load(live), embedded: embedded() }
      const others = {
        'load, other': load({ program }),
        'live, other': load({ ...live, program }),
        'embedded, other': embedded({ program }),
      }
      return { raw, ...own, ...others }
    }
    log('warming up …')
    const warmUp = await measures(Math.min(WARM_UP_ORDERS, options.loadOrders))
    for (const measure of Object.values(warmUp)) await measure()
    const contenders = Object.entries(await measures(options.loadOrders)).map(([name, measure]) => {
      return { name, measure }
    })
    const results = await race([{ name: '', contenders }], context)
    const title = `The load of ${options.loadOrders} orders, and raw bulks`
    const name = 'documents a second load÷raw'
    const ratios = [{ name, of: 'load', per: 'raw', figure: 'perSecond' } as const]
    const notes = [LEGEND, ...(options.against === undefined ? [] : compareCheckouts(results))]
    return { sections: [{ title, results, base: 'raw', ratios, notes }] }
  },
}

/** Ratios of this checkout and the other one, which the history does not record. */
function compareCheckouts(results: readonly Result[]): string[] {
  return results.flatMap((result) =>
    ['load', 'live', 'embedded'].map((of) => {
      const compare = (figure: Figure) =>
        formatRatio(ratioOf(result, { of, per: `${of}, other`, figure }))
      const [rate, micros] = [compare('perSecond'), compare('processMicros')]
      return `${of} ÷ that of the other checkout: ${rate} documents a second, ${micros} CPU time`
    }),
  )
}

async function sendRaw(context: BenchContext, count: number): Promise<Sample> {
  const { cluster, orders, prefix, signal } = context
  const index = `${prefix}raw-bulks`
  const lines = [...orders.bulkLines().take(count)]
  await cluster.create(index, ordersDefinition)
  return await measureFilling(context, index, async () => {
    const startedAt = performance.now()
    for (const chunk of inChunks(lines, LOAD_BATCH.entries)) {
      signal.throwIfAborted()
      await sendBulk(cluster.client, index, Buffer.from(chunk.join('')))
    }
    return { seconds: (performance.now() - startedAt) / 1000 }
  })
}

async function loadFile(
  context: BenchContext,
  scratch: Scratch,
  file: string,
  command?: LoadCommand,
): Promise<Sample> {
  const INDEX_PREFIX = `${context.prefix}load-`
  const settings = { ...context.settings, INDEX_PREFIX }
  return await measureFilling(context, `${INDEX_PREFIX}orders`, async () => {
    const { written, seconds, cpuMicros } = await runLoad(scratch, file, settings, command)
    if (written === 0) throw new Error('the load wrote no document')
    return { seconds, processMicros: cpuMicros / written }
  })
}

async function loadEmbedded(
  { settings }: BenchContext,
  file: string,
  command?: LoadCommand,
): Promise<Sample> {
  await using scope = new AsyncDisposableStack()
  const scratch = await openScratch('bench-load-embedded')
  scope.defer(scratch.close)
  const own = { ...settings, OPENSEARCH_URL: '', REDIS_URL: '' }
  const { written, seconds, cpuMicros } = await runLoad(scratch, file, own, command)
  return { perSecond: written / seconds, processMicros: cpuMicros / written }
}

/** Fills an index, returns the figures with the CPU time of OpenSearch, and removes the index. */
async function measureFilling(
  { cluster, readCpu }: BenchContext,
  index: string,
  fill: () => Promise<Sample & { seconds: number }>,
): Promise<Sample> {
  try {
    await sleep(CPU_RENEWAL_MS)
    const before = await readCpu()
    const { seconds, ...figures } = await fill()
    await sleep(CPU_RENEWAL_MS)
    const micros = (await readCpu()).openSearchMicros - before.openSearchMicros
    await cluster.refresh(index)
    const { documents } = await cluster.figures(index)
    return { ...figures, perSecond: documents / seconds, openSearchMicros: micros / documents }
  } finally {
    await cluster.remove(index.replace(/orders$/, ''))
  }
}

interface LoadCommand {
  mode?: '--history' | '--live'
  /** The program of another checkout. */
  program?: string
}

/**
 * Runs `index load` on a file, in a separate process with these settings only. Returns its summary,
 * its CPU time and its memory.
 */
export async function runLoad(
  scratch: Scratch,
  file: string,
  settings: Settings,
  { mode = '--history', program = MAIN }: LoadCommand = {},
) {
  const args = ['load', file, mode, '--json']
  const { log, ...figures } = await runIndexCommand(scratch, { program, args, settings })
  const at = log.lastIndexOf('{') // The summary is last in the log.
  const summary: LoadSummary & { seconds: number } = JSON.parse(log.slice(at))
  return { ...figures, ...summary }
}

export async function writeLines(file: string, lines: Iterator<string> & Iterable<string>) {
  const terminated = Iterator.from(lines).map((line) => `${line}\n`)
  await pipeline(Readable.from(terminated), createWriteStream(file))
}
