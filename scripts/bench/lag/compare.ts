import { parseConfig } from '../../../src/config/config.ts'
import { formatInstant } from '../../../src/lib/instant.ts'
import type { BenchContext } from '../context.ts'
import { createCpuReader } from '../measuring/cpu.ts'
import { createGenerator } from '../measuring/generator.ts'
import { createChanges, FOLLOWED_ACCOUNTS } from './changes.ts'
import { type Feed, openFeed } from './feed.ts'
import { createLagLedger, type LagLedger } from './ledger.ts'
import { follow } from './pager.ts'
import { type LagPlatform, startPlatform } from './platform.ts'
import { describeLag } from './report.ts'
import { type LagSample, measureLag } from './round.ts'

export interface LagComparison {
  rate: number
  seconds: number
  /** In the index before anything changed. */
  orders: number
  /** How far off the instants of Redis may be on the clock of the followers, in milliseconds. */
  clockUncertainMs: number
  /** Its figures say nothing, but its answers have to be right. */
  warmUp: LagSample
  /** One a round. */
  samples: LagSample[]
}

/** Everything runs for the first time then. */
const WARM_UP_SECONDS = 5

/**
 * The lag from end to end: changes enter the stream at a rate, a watch writes them, and followers of some
 * accounts note when the API first shows each.
 */
export async function compareLag(context: BenchContext): Promise<LagComparison> {
  const { cluster, options, prefix, log } = context
  const own = `${prefix}lag-`
  const settings = { ...context.settings, INDEX_PREFIX: own, REDIS_PREFIX: own }
  const changes = createChanges(options.loadOrders, Date.now())
  const feed = await openFeed(parseConfig(settings))
  try {
    log(`loading ${options.loadOrders} orders …`)
    const platform = await startPlatform(settings, changes)
    try {
      const ledger = createLagLedger(FOLLOWED_ACCOUNTS)
      const work = () => measureRounds(context, { platform, changes, feed, ledger })
      return await whileFollowed(platform, ledger, work)
    } finally {
      await platform.stop()
    }
  } finally {
    await feed.close() // After the watch, which would make the stream anew.
    await cluster.remove(own)
  }
}

/** Follows every account that is to be followed, while `work` goes on. */
async function whileFollowed<T>(
  { api, keys }: LagPlatform,
  ledger: LagLedger,
  work: () => Promise<T>,
): Promise<T> {
  const generator = createGenerator({ origins: [api.origin] }, keys.size)
  const ending = new AbortController()
  const from = formatInstant(Date.now())
  const following = [...keys].map(([accountId, key]) =>
    follow({
      generator,
      key,
      from,
      onPage: (orders, atMs) => ledger.shown(accountId, orders, atMs),
      onFailure: ledger.failed,
      signal: ending.signal,
    }),
  )
  try {
    return await work()
  } finally {
    ending.abort()
    await Promise.all(following)
    await generator.close()
  }
}

interface Measured {
  platform: LagPlatform
  changes: ReturnType<typeof createChanges>
  feed: Feed
  ledger: LagLedger
}

async function measureRounds(
  { cluster, options, redis, signal, log }: BenchContext,
  { platform: { api, watch }, ...measured }: Measured,
): Promise<LagComparison> {
  const { rate, seconds, rounds, loadOrders } = options
  const readCpu = createCpuReader({ client: cluster.client, redis, api: api.cpuMicros })
  const round = {
    ...measured,
    rate,
    watch,
    signal,
    readCpu: async () => ({ ...(await readCpu()), watch: await watch.cpuMicros() }),
  }
  const { uncertainMs } = await measured.feed.readClock()
  log('warming up …')
  const warmUp = await measureLag({ ...round, seconds: WARM_UP_SECONDS })
  const samples: LagSample[] = []
  while (samples.length < rounds) {
    const sample = await measureLag({ ...round, seconds })
    samples.push(sample)
    log(`round ${samples.length}/${rounds}: ${describeLag(sample)}`)
  }
  return { rate, seconds, orders: loadOrders, clockUncertainMs: uncertainMs, warmUp, samples }
}
