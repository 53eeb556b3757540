import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { demoOrders } from '../../../src/demo/demo-orders.ts'
import { createRandom } from '../../../src/demo/random.ts'
import type { SourceOrder } from '../../../src/indexing/projection/source-order.ts'
import { indexNames } from '../../../src/stores/opensearch/indices/index-names.ts'
import { openScratch } from '../../../test/harness/processes/scratch.ts'
import { sum } from '../../../test/harness/statistics.ts'
import type { BenchContext, Part } from '../context.ts'
import { type CommandFigures, runIndexCommand } from '../measuring/command.ts'
import { CPU_RENEWAL_MS } from '../measuring/cpu.ts'
import { writeLines } from '../measuring/load-command.ts'
import type { Sample } from '../report.ts'
import { sizesUpTo } from './sizes.ts'

const SEED = 3
const OWNER_STREAM = 0x6f776e65
const MEGABYTE = 1_000_000
const LEGEND = `load: index load --history into one shard; reindex: index reindex --shards, with its copy and verification;
check: index check of the file; finish: index reindex --finish, which verifies every checksum
/s: documents; µs: CPU time of a document, in OpenSearch and in the command (process); MB: greatest memory of the command`

/**
 * A load into one shard, its growth to several shards (2, or `--shards`), and checks of both. Each
 * command runs once, so the figures have no median.
 */
export const reindexPart: Part = {
  name: 'reindex',
  about: 'index load, reindex to more shards, and check: time and memory',
  async measure(context, scope) {
    const { options, log, settings, cluster } = context
    const shards = Math.max(2, options.shards)
    const scratch = await openScratch('bench-reindex')
    scope.defer(scratch.close)
    const file = join(scratch.path, 'orders.ndjson')
    log(`writing ${options.loadOrders} source orders …`)
    await writeLines(file, sourceLines(options.loadOrders, options.largest))

    const own = { ...settings, ORDERS_SHARDS: '1' }
    const { orders } = indexNames(context.config.indexPrefix)
    const samples: Record<string, Sample[]> = {}
    async function measure(name: string, ...args: string[]): Promise<void> {
      log(`index ${args.join(' ')} …`)
      const openSearchMicros = await openSearchMicrosOf(context)
      const figures = await runIndexCommand(scratch, { args, settings: own })
      const micros = await openSearchMicros()
      await cluster.refresh(orders)
      const { documents } = await cluster.figures(orders)
      const sample = { ...sampleOf(figures, documents), openSearchMicros: micros / documents }
      samples[name] = [sample]
      log(`${figures.log.trimEnd()}\n${figures.seconds.toFixed(1)} s`)
    }
    await measure('load', 'load', file, '--history')
    await measure('check', 'check', file)
    await measure('reindex', 'reindex', '--shards', `${shards}`)
    await measure('check again', 'check', file)
    await measure('finish', 'reindex', '--finish')
    const status = await runIndexCommand(scratch, { args: ['status'], settings: own })

    const title = `${options.loadOrders} source orders, from 1 shard to ${shards}`
    const notes = [LEGEND, status.log.trimEnd()]
    return { sections: [{ title, results: [{ name: title, samples }], base: 'load', notes }] }
  },
}

/** Reads the CPU time of OpenSearch from now on, in microseconds. */
async function openSearchMicrosOf({ readCpu }: BenchContext): Promise<() => Promise<number>> {
  await sleep(CPU_RENEWAL_MS)
  const before = await readCpu()
  return async () => {
    await sleep(CPU_RENEWAL_MS)
    return (await readCpu()).openSearchMicros - before.openSearchMicros
  }
}

function sampleOf({ seconds, cpuMicros, peakBytes }: CommandFigures, documents: number): Sample {
  return {
    perSecond: documents / seconds,
    loadSeconds: seconds,
    processMicros: cpuMicros / documents,
    megabytes: peakBytes / MEGABYTE,
  }
}

/** Demo orders of other accounts: of 1,000 orders to `largest`, a few of each size. */
function* sourceLines(count: number, largest: number): Generator<string> {
  const sizes = accountSizes(count, largest)
  let index = 0
  for (const order of demoOrders({ count, seed: SEED, until: Date.now() })) {
    const random = createRandom(SEED, OWNER_STREAM, index++)
    yield JSON.stringify(ownedBy(order, ownerAt(sizes, random.between(0, count - 1))))
  }
}

/** A fifth of all orders for each size, and the rest for the largest. */
export function accountSizes(count: number, largest: number): number[] {
  const sizes: number[] = []
  const known = sizesUpTo(largest)
  for (const size of known) {
    const share = size === largest ? count - sum(sizes) : Math.round(count / (known.length + 1))
    for (let left = share; left > 0; left -= size) sizes.push(Math.min(size, left))
  }
  return sizes
}

/** The account whose orders include the one at this place of all. */
function ownerAt(sizes: readonly number[], place: number): string {
  let before = 0
  const at = sizes.findIndex((size) => {
    before += size
    return place < before
  })
  return `acc_${at}`
}

const ownedBy = (order: SourceOrder, owner: string): SourceOrder => ({
  ...order,
  owner_account_id: owner,
})
