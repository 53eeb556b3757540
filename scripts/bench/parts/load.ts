import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { demoOrders } from '../../../src/demo/demo-orders.ts'
import { LOAD_BATCH, type LoadSummary } from '../../../src/indexing/sources/load.ts'
import { ordersDefinition } from '../../../src/stores/opensearch/index-definition.ts'
import { poll } from '../../../test/harness/processes/poll.ts'
import { openScratch, type Scratch } from '../../../test/harness/processes/scratch.ts'
import { commandLine, type Settings } from '../../../test/harness/processes/service.ts'
import type { BenchContext, Part } from '../context.ts'
import { CPU_RENEWAL_MS } from '../measuring/cpu.ts'
import { race } from '../measuring/race.ts'
import { inChunks, sendBulk } from '../orders/stores.ts'
import type { Sample } from '../report.ts'

const SEED = 1
/** The JVM compiles on first use, so without a warm-up the first contender would pay for both. */
const WARM_UP_ORDERS = 5_000
const TIMEOUT_MS = 3_600_000
const LEGEND = `raw: documents of orders in bulk requests, one at a time; load: index load, in a separate process
/s: documents; µs: CPU time of a document`

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
      return { raw: () => sendRaw(context, count), load: () => loadFile(context, scratch, file) }
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
    return { sections: [{ title, results, base: 'raw', ratios, notes: [LEGEND] }] }
  },
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

async function loadFile(context: BenchContext, scratch: Scratch, file: string): Promise<Sample> {
  const INDEX_PREFIX = `${context.prefix}load-`
  const settings = { ...context.settings, INDEX_PREFIX }
  return await measureFilling(context, `${INDEX_PREFIX}orders`, async () => {
    const { written, seconds } = await runLoad(scratch, file, settings)
    if (written === 0) throw new Error('the load wrote no document')
    return { seconds }
  })
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

/** Runs `index load` on a file, in a separate process with these settings only. */
export async function runLoad(scratch: Scratch, file: string, settings: Settings) {
  const [command, ...args] = await commandLine(join(scratch.path, 'settings.env'), {
    args: ['index', 'load', file, '--history', '--json'],
    settings: { ...settings, DATA_DIR: scratch.path },
  })
  const load = await scratch.start('load', command, args)
  await poll(
    async () => load.hasEnded(),
    async () => `the load did not end:\n${await load.logTail()}`,
    { timeoutMs: TIMEOUT_MS, intervalMs: 50, shouldAbort: () => false },
  )
  const log = await load.logTail()
  const at = log.lastIndexOf('{') // The summary is last in the log.
  if (at < 0) throw new Error(`the load failed:\n${log}`)
  const summary: LoadSummary & { seconds: number } = JSON.parse(log.slice(at))
  return summary
}

export async function writeLines(file: string, lines: Iterator<string> & Iterable<string>) {
  const terminated = Iterator.from(lines).map((line) => `${line}\n`)
  await pipeline(Readable.from(terminated), createWriteStream(file))
}
