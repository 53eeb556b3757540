import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ordersDefinition } from '../../../src/stores/opensearch/index-definition.ts'
import { openScratch, type Scratch } from '../../../test/harness/processes/scratch.ts'
import type { BenchContext } from '../context.ts'
import { CPU_RENEWAL_MS, createCpuReader } from '../measuring/cpu.ts'
import { createGenerator } from '../measuring/generator.ts'
import { runLoad } from './load-command.ts'
import { type RawBulk, rawBulks, writeSourceFile } from './source-file.ts'

/** One filling of an empty index; CPU times are microseconds a document. */
export interface LoadSample {
  documents: number
  seconds: number
  cpu: { openSearch: number; client: number }
}

/** The same by the command, which is given orders. */
export interface CommandSample extends LoadSample {
  orders: number
  peakBytes: number
}

export interface LoadComparison {
  orders: number
  documents: number
  documentsABulk: number
  /** One a round. */
  raw: LoadSample[]
  load: CommandSample[]
}

/** The JVM compiles what it runs for the first time, so the first side would pay for both. */
const WARM_UP_ORDERS = 5_000

/**
 * `index load` of a file of source orders beside raw bulk requests, one at a time, of the documents that it
 * writes: each into an empty index of the same definition. Every other round begins with the other one.
 */
export async function compareLoad(context: BenchContext): Promise<LoadComparison> {
  const { options, signal, log } = context
  const scratch = await openScratch('bench-load')
  try {
    const now = Date.now()
    const [file, warmUp] = ['orders.ndjson', 'warm-up.ndjson'].map((name) =>
      join(scratch.path, name),
    )
    if (!file || !warmUp) throw new Error('there are two files')
    await writeSourceFile(file, options.loadOrders, now)
    await writeSourceFile(warmUp, Math.min(WARM_UP_ORDERS, options.loadOrders), now)
    const bulks = await rawBulks(file, now)
    log('warming up …')
    await sendRaw(context, await rawBulks(warmUp, now))
    await loadFile(context, scratch, warmUp)

    const raw: LoadSample[] = []
    const load: CommandSample[] = []
    for (let round = 0; round < options.rounds; round += 1) {
      const sides = [
        async () => raw.push(await sendRaw(context, bulks)),
        async () => load.push(await loadFile(context, scratch, file)),
      ]
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        signal.throwIfAborted()
        await side()
      }
      const told = [raw, load].map((samples) => Math.round(perSecond(samples.at(-1))))
      log(`round ${round + 1}/${options.rounds}: raw ${told[0]}, load ${told[1]} documents/s`)
    }
    const documents = total(bulks)
    const documentsABulk = documents / bulks.length
    return { orders: options.loadOrders, documents, documentsABulk, raw, load }
  } finally {
    await scratch.close()
  }
}

/** Documents a second. */
export function perSecond(sample: LoadSample | undefined): number {
  return sample ? sample.documents / sample.seconds : Number.NaN
}

async function sendRaw(context: BenchContext, bulks: readonly RawBulk[]): Promise<LoadSample> {
  const { cluster, openSearch, prefix, signal } = context
  const index = `${prefix}raw-bulks`
  await cluster.create(index, ordersDefinition)
  const sender = createGenerator(openSearch, 1)
  const headers = { 'content-type': 'application/x-ndjson', ...authorization(openSearch.urls) }
  try {
    return await measured(context, async () => {
      const cpuBefore = process.cpuUsage()
      const startedAt = performance.now()
      for (const { body } of bulks) {
        signal.throwIfAborted()
        const answer = await sender.ask({ method: 'POST', path: `/${index}/_bulk`, headers, body })
        if (!answer.includes('"errors":false')) throw new Error('a document was not taken')
      }
      const seconds = (performance.now() - startedAt) / 1000
      const { user, system } = process.cpuUsage(cpuBefore)
      return { documents: total(bulks), seconds, clientMicros: user + system }
    })
  } finally {
    await sender.close()
    await cluster.remove(index)
  }
}

async function loadFile(
  context: BenchContext,
  scratch: Scratch,
  file: string,
): Promise<CommandSample> {
  const { cluster, settings, prefix } = context
  const own = `${prefix}load-`
  try {
    let peakBytes = 0
    let orders = 0
    const sample = await measured(context, async () => {
      const run = await runLoad(scratch, file, { ...settings, INDEX_PREFIX: own })
      const { read, written, seconds } = run.summary
      orders = read
      peakBytes = run.peakBytes
      if (written === 0) throw new Error('the load wrote nothing')
      await cluster.refresh(`${own}orders`)
      const { documents } = await cluster.facts(`${own}orders`)
      return { documents, seconds, clientMicros: run.cpuMicros }
    })
    return { ...sample, orders, peakBytes }
  } finally {
    await cluster.remove(own)
  }
}

type Filled = Omit<LoadSample, 'cpu'> & { clientMicros: number }

/** Adds the CPU time that OpenSearch took meanwhile. */
async function measured(
  { cluster, redis }: BenchContext,
  fill: () => Promise<Filled>,
): Promise<LoadSample> {
  const readCpu = createCpuReader({ client: cluster.client, redis, api: async () => 0 })
  await sleep(CPU_RENEWAL_MS)
  const before = await readCpu()
  const { clientMicros, documents, seconds } = await fill()
  await sleep(CPU_RENEWAL_MS)
  const after = await readCpu()
  const openSearch = (after.openSearch - before.openSearch) / documents
  return { documents, seconds, cpu: { openSearch, client: clientMicros / documents } }
}

const total = (bulks: readonly RawBulk[]) =>
  bulks.reduce((sum, { documents }) => sum + documents, 0)

function authorization(urls: readonly string[]): Record<string, string> {
  const { username, password } = new URL(urls.find((url) => new URL(url).username) ?? 'http://none')
  if (username === '') return {}
  const credentials = [username, password].map(decodeURIComponent).join(':')
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }
}
