import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { demoOrders } from '../../../src/demo/demo-orders.ts'
import { LOAD_BATCH } from '../../../src/indexing/sources/load.ts'
import {
  ordersDefinition,
  versionRecordsDefinition,
} from '../../../src/stores/opensearch/indices/index-definition.ts'
import { openScratch, type Scratch } from '../../../test/harness/processes/scratch.ts'
import { sum } from '../../../test/harness/statistics.ts'
import type { BenchContext, Part } from '../context.ts'
import type { CommandFigures } from '../measuring/command.ts'
import { CPU_RENEWAL_MS } from '../measuring/cpu.ts'
import { type LoadCommand, runLoad, writeLines } from '../measuring/load-command.ts'
import { race, type Scenario, scenarioOf } from '../measuring/race.ts'
import { type LoadBulks, loadBulks } from '../orders/load-bulks.ts'
import { insertOrderRows, readOrderRows } from '../orders/sqlite-rows.ts'
import { sendBulk } from '../orders/stores.ts'
import { type Figure, formatRatio, type Result, ratioOf, type Sample } from '../report.ts'

const SEED = 1
const MEGABYTE = 1_000_000
/** The JVM compiles on first use, so without a warm-up the first contender would pay for both. */
const WARM_UP_ORDERS = 20_000
const LEGEND = `raw: the same documents and version records in bulk requests, rendered before, one at a time
load: index load, in a separate process
live: index load --live, instead of --history; other: the same in the checkout of --against
/s: documents; OpenSearch µs: CPU time of a document; process µs: of an order, in the load; MB: its greatest memory`
const EMBEDDED_LEGEND = `sqlite: the rows of such a load, inserted into the same schema in a transaction for each batch
embedded: index load into an empty embedded database; /s: documents`

/**
 * `index load` of source orders against sequential bulk requests with the same documents, and into
 * an embedded database against SQLite alone with the same rows.
 */
export const loadPart: Part = {
  name: 'load',
  about: 'index load against raw bulks and raw inserts',
  async measure(context, scope) {
    const { options, log } = context
    const scratch = await openScratch('bench-load')
    scope.defer(scratch.close)
    const scenariosOf = async (count: number): Promise<Scenario[]> => {
      const file = join(scratch.path, `${count}.ndjson`)
      const sources = demoOrders({ count, seed: SEED, until: Date.now() })
      const lines = sources.map((order) => JSON.stringify(order)).toArray()
      await writeLines(file, lines)
      const bulks = [...loadBulks(lines)]
      const load = (command?: LoadCommand) => () => loadFile(context, scratch, file, command)
      const embedded = (command?: LoadCommand) => () => loadEmbedded(context, file, command)
      const rows = await withEmbeddedLoad(context, file, {}, ({ path }) => readOrderRows(path))
      const services = { raw: () => sendRaw(context, bulks), load: load() }
      const onSqlite = { sqlite: () => insertRaw(rows), embedded: embedded() }
      const { against } = options
      if (against === undefined)
        return [scenarioOf(OPENSEARCH, services), scenarioOf(EMBEDDED, onSqlite)]
      const program = resolve(against, 'src', 'main.ts')
      const live = { mode: '--live' } as const
      const others = {
        'load, other': load({ program }),
        live: load(live),
        'live, other': load({ ...live, program }),
      }
      return [
        scenarioOf(OPENSEARCH, { ...services, ...others }),
        scenarioOf(EMBEDDED, { ...onSqlite, 'embedded, other': embedded({ program }) }),
      ]
    }
    log('warming up …')
    const warmUp = await scenariosOf(Math.min(WARM_UP_ORDERS, options.loadOrders))
    for (const { contenders } of warmUp) for (const { measure } of contenders) await measure()
    const results = await race(await scenariosOf(options.loadOrders), context)
    const sectionOf = (name: string, base: string, of: string, notes: readonly string[]) => {
      const ratio = { name: `documents a second ${of}÷${base}`, of, per: base }
      return {
        title: `The load of ${options.loadOrders} orders, ${name}`,
        results: results.filter((result) => result.name === name),
        base,
        ratios: [{ ...ratio, figure: 'perSecond' } as const],
        notes,
      }
    }
    const compared = options.against === undefined ? [] : compareCheckouts(results)
    return {
      sections: [
        sectionOf(OPENSEARCH, 'raw', 'load', [LEGEND]),
        sectionOf(EMBEDDED, 'sqlite', 'embedded', [EMBEDDED_LEGEND, ...compared]),
      ],
    }
  },
}

const OPENSEARCH = 'OpenSearch'
const EMBEDDED = 'embedded'

const COMPARED = ['load', 'live', 'embedded']

/** Ratios of this checkout and the other one, which the history does not record. */
function compareCheckouts(results: readonly Result[]): string[] {
  return results.flatMap((result) =>
    COMPARED.filter((of) => of in result.samples).map((of) => {
      const compare = (figure: Figure) =>
        formatRatio(ratioOf(result, { of, per: `${of}, other`, figure }))
      const [rate, micros] = [compare('perSecond'), compare('processMicros')]
      return `${of} ÷ that of the other checkout: ${rate} documents a second, ${micros} CPU time`
    }),
  )
}

async function sendRaw(context: BenchContext, bulks: readonly LoadBulks[]): Promise<Sample> {
  const { cluster, prefix, signal } = context
  const index = `${prefix}raw-bulks-orders`
  const versionRecords = `${prefix}raw-bulks-records`
  await cluster.create(index, ordersDefinition)
  await cluster.create(versionRecords, versionRecordsDefinition(1))
  return await measureFilling(context, index, async () => {
    const startedAt = performance.now()
    for (const bulk of bulks) {
      signal.throwIfAborted()
      await sendBulk(cluster.client, index, bulk.documents)
      await sendBulk(cluster.client, versionRecords, bulk.versionRecords)
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
    const { written, seconds, ...cost } = await runLoad(scratch, file, settings, command)
    if (written === 0) throw new Error('the load wrote no document')
    return { seconds, ...costOf(written, cost) }
  })
}

async function loadEmbedded(
  context: BenchContext,
  file: string,
  command?: LoadCommand,
): Promise<Sample> {
  return await withEmbeddedLoad(context, file, command, ({ path }, summary) => {
    const { written, seconds, ...cost } = summary
    const documents = sum(readOrderRows(path).map((order) => order.documents.length))
    return { perSecond: documents / seconds, ...costOf(written, cost) }
  })
}

/** Loads the file into an embedded database, which exists during `work`. */
async function withEmbeddedLoad<T>(
  { settings }: BenchContext,
  file: string,
  command: LoadCommand | undefined,
  work: (scratch: Scratch, summary: Awaited<ReturnType<typeof runLoad>>) => T,
): Promise<T> {
  await using scope = new AsyncDisposableStack()
  const scratch = await openScratch('bench-load-embedded')
  scope.defer(scratch.close)
  const own = { ...settings, OPENSEARCH_URL: '', REDIS_URL: '' }
  return work(scratch, await runLoad(scratch, file, own, command))
}

async function insertRaw(rows: ReturnType<typeof readOrderRows>): Promise<Sample> {
  await using scope = new AsyncDisposableStack()
  const scratch = await openScratch('bench-load-sqlite')
  scope.defer(scratch.close)
  const seconds = insertOrderRows(scratch.path, rows, LOAD_BATCH.entries)
  return { perSecond: sum(rows.map(({ documents }) => documents.length)) / seconds }
}

const costOf = (
  written: number,
  { cpuMicros, peakBytes }: Pick<CommandFigures, 'cpuMicros' | 'peakBytes'>,
): Sample => ({ processMicros: cpuMicros / written, megabytes: peakBytes / MEGABYTE })

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
