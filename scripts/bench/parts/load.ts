import { createReadStream, createWriteStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { demoOrders } from '../../../src/demo/demo-orders.ts'
import { isValidationError } from '../../../src/indexing/projection/change.ts'
import { LOAD_BATCH, type LoadSummary } from '../../../src/indexing/sources/load.ts'
import { inBatches, parseLines } from '../../../src/indexing/sources/ndjson.ts'
import { decide } from '../../../src/indexing/writer/decide.ts'
import { ordersDefinition } from '../../../src/stores/opensearch/index-definition.ts'
import { poll } from '../../../test/harness/processes/poll.ts'
import { openScratch, type Scratch } from '../../../test/harness/processes/scratch.ts'
import type { BenchContext } from '../context.ts'
import { createClosedLoop } from '../measuring/closed-loop.ts'
import { CPU_RENEWAL_MS } from '../measuring/cpu.ts'
import { median, medianRatio, sum, summarize } from '../measuring/figures.ts'
import { race } from '../measuring/race.ts'
import { commandLine, MAIN, type Settings } from '../measuring/service.ts'
import { linesOf } from '../orders/orders.ts'
import type { Part, PartReport } from '../part.ts'
import { formatFigure, formatRatio, renderTable } from '../reporting/table.ts'

/** One load into an empty index; CPU times are microseconds for each document. */
export interface LoadSample {
  documents: number
  seconds: number
  cpu: { openSearch: number; client: number }
  /** Of the command. */
  orders?: number
  peakBytes?: number
}

const SEED = 1
/** The JVM compiles on first use, so without a warm-up the first contender would pay for both. */
const WARM_UP_ORDERS = 5_000
const TIMEOUT_MS = 3_600_000
const COLUMNS = ['', 'documents/s', 'orders/s', 'OpenSearch µs', 'client µs', 'peak MB']
const LEGEND = `raw: the same documents in bulk requests, one at a time; load: index load, in a separate process
µs: CPU time of a document; client: the process that sends; peak MB: the highest memory of the load's process`

/** `index load` of source orders against sequential bulk requests with the same documents. */
export const loadPart: Part = {
  name: 'load',
  about: 'index load against raw bulks',
  async measure(context, scope) {
    const { options, signal, log } = context
    const scratch = await openScratch('bench-load')
    scope.defer(scratch.close)
    const now = Date.now()
    const file = join(scratch.path, 'orders.ndjson')
    const warmUp = join(scratch.path, 'warm-up.ndjson')
    await writeSourceFile(file, options.loadOrders, now)
    await writeSourceFile(warmUp, Math.min(WARM_UP_ORDERS, options.loadOrders), now)
    const bulks = await rawBulks(file, now)
    log('warming up …')
    await sendRaw(context, await rawBulks(warmUp, now))
    await loadFile(context, scratch, warmUp)
    const contenders = [
      { name: 'raw', measure: () => sendRaw(context, bulks) },
      { name: 'load', measure: () => loadFile(context, scratch, file) },
    ]
    const describe = (one: LoadSample) => `${Math.round(rateOf(one))} documents/s`
    const scenario = { name: 'load', contenders }
    const { rounds } = options
    const [result] = await race([scenario], { rounds, signal, log }, describe)
    const { raw = [], load = [] } = result?.samples ?? {}
    const documents = sum(bulks.map((bulk) => bulk.documents))
    const documentsPerBulk = documents / bulks.length
    return reportLoad({ orders: options.loadOrders, documents, documentsPerBulk, raw, load })
  },
}

export interface LoadComparison {
  orders: number
  documents: number
  documentsPerBulk: number
  /** One each round. */
  raw: readonly LoadSample[]
  load: readonly LoadSample[]
}

const rateOf = ({ documents, seconds }: LoadSample) => documents / seconds

export function reportLoad({ raw, load, ...plan }: LoadComparison): PartReport {
  const loadPerRaw = medianRatio(load.map(rateOf), raw.map(rateOf))
  const figuresOf = (samples: readonly LoadSample[]) => {
    const { cpu, peakBytes = Number.NaN } = summarize(samples)
    const ordersPerSecond = median(samples.map((one) => (one.orders ?? Number.NaN) / one.seconds))
    return { perSecond: median(samples.map(rateOf)), ordersPerSecond, ...cpu, peakBytes }
  }
  const contenders = { raw: figuresOf(raw), load: figuresOf(load) }
  const rows = Object.entries(contenders).map(([name, { peakBytes, ...figures }]) => {
    return [name, ...[...Object.values(figures), peakBytes / 2 ** 20].map(formatFigure)]
  })
  const { orders, documents, documentsPerBulk } = plan
  const title = `The load of ${orders} orders, ${documents} documents, ${Math.round(documentsPerBulk)} a bulk, and raw bulks`
  const table = renderTable(COLUMNS, rows)
  return {
    tables: [[title, '', table, `load÷raw: ${formatRatio(loadPerRaw)}`, LEGEND].join('\n')],
    figures: { ...plan, ...contenders, loadPerRaw, rounds: { raw, load } },
    ratios: { 'documents a second load÷raw': loadPerRaw },
    failures: [],
  }
}

async function sendRaw(context: BenchContext, bulks: readonly RawBulk[]): Promise<LoadSample> {
  const { cluster, openSearch, prefix, signal } = context
  const index = `${prefix}raw-bulks`
  await cluster.create(index, ordersDefinition)
  await using scope = new AsyncDisposableStack()
  scope.defer(() => cluster.remove(index))
  const loop = scope.use(createClosedLoop(openSearch, 1))
  const headers = { 'content-type': 'application/x-ndjson', ...authorization(openSearch.urls) }
  return await withServerCpu(context, async () => {
    const cpuBefore = process.cpuUsage()
    const startedAt = performance.now()
    for (const { body } of bulks) {
      signal.throwIfAborted()
      const response = await loop.fetch({ method: 'POST', path: `/${index}/_bulk`, headers, body })
      if (!response.includes('"errors":false')) throw new Error('OpenSearch rejected a document')
    }
    const seconds = (performance.now() - startedAt) / 1000
    const { user, system } = process.cpuUsage(cpuBefore)
    const documents = sum(bulks.map((bulk) => bulk.documents))
    return { documents, seconds, clientMicros: user + system }
  })
}

async function loadFile(context: BenchContext, scratch: Scratch, file: string) {
  const { cluster, settings, prefix } = context
  const own = `${prefix}load-`
  try {
    return await withServerCpu(context, async () => {
      const run = await runLoad(scratch, file, { ...settings, INDEX_PREFIX: own })
      const { read, written, seconds } = run.summary
      if (written === 0) throw new Error('the load wrote no document')
      await cluster.refresh(`${own}orders`)
      const { documents } = await cluster.figures(`${own}orders`)
      const { cpuMicros, peakBytes } = run
      return { documents, seconds, clientMicros: cpuMicros, orders: read, peakBytes }
    })
  } finally {
    await cluster.remove(own)
  }
}

type Filled = Omit<LoadSample, 'cpu'> & { clientMicros: number }

/** Adds the CPU time that OpenSearch took meanwhile. */
async function withServerCpu(
  { readCpu }: BenchContext,
  fill: () => Promise<Filled>,
): Promise<LoadSample> {
  await sleep(CPU_RENEWAL_MS)
  const before = await readCpu()
  const { clientMicros, ...filled } = await fill()
  await sleep(CPU_RENEWAL_MS)
  const micros = (await readCpu()).openSearch - before.openSearch
  const { documents } = filled
  return { ...filled, cpu: { openSearch: micros / documents, client: clientMicros / documents } }
}

function authorization(urls: readonly string[]): Record<string, string> {
  const { username, password } = new URL(urls.find((url) => new URL(url).username) ?? 'http://none')
  if (username === '') return {}
  const credentials = [username, password].map(decodeURIComponent).join(':')
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }
}

/** Runs `index load` on a file, in a separate process with these settings only. */
export async function runLoad(scratch: Scratch, file: string, settings: Settings) {
  const usageFile = join(scratch.path, 'usage.json')
  const preload = fileURLToPath(new URL('../measuring/resource-usage.ts', import.meta.url))
  const own = { DATA_DIR: scratch.path, BENCH_USAGE_FILE: usageFile }
  const [command, ...args] = await commandLine(join(scratch.path, 'settings.env'), {
    program: `--import=${preload}`,
    args: [MAIN, 'index', 'load', file, '--history', '--json'],
    settings: { ...settings, ...own },
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
  const usage: NodeJS.ResourceUsage = JSON.parse(await readFile(usageFile, 'utf8'))
  const cpuMicros = usage.userCPUTime + usage.systemCPUTime
  return { summary, cpuMicros, peakBytes: 1024 * usage.maxRSS }
}

/** Writes source orders to a file, one each line, of the years before `before` (epoch ms). */
export async function writeSourceFile(file: string, count: number, before: number): Promise<void> {
  const orders = demoOrders({ count, seed: SEED, until: before })
  await writeLines(
    file,
    orders.map((order) => JSON.stringify(order)),
  )
}

export async function writeLines(file: string, lines: Iterator<string> & Iterable<string>) {
  const terminated = Iterator.from(lines).map((line) => `${line}\n`)
  await pipeline(Readable.from(terminated), createWriteStream(file))
}

interface RawBulk {
  body: Buffer
  documents: number
}

/** The bulks in which a load writes this file to an empty index, with the write timestamp `stamp`. */
export async function rawBulks(file: string, stamp: number): Promise<RawBulk[]> {
  const bulks: RawBulk[] = []
  const entries = parseLines(createReadStream(file), 1)
  for await (const batch of inBatches(entries, LOAD_BATCH)) {
    const views = batch.flatMap(({ result }) => {
      if (isValidationError(result))
        throw new Error(`the projection rejects a demo order: ${result.path}`)
      return decide(result, undefined, [], 'back-fill').views
    })
    const body = Buffer.from(views.map((view) => linesOf(view, stamp)).join(''))
    bulks.push({ body, documents: views.length })
  }
  return bulks
}
