import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readCaFile } from '../../../src/config/ca-file.ts'
import { type Config, parseConfig } from '../../../src/config/config.ts'
import { formatInstant } from '../../../src/lib/instant.ts'
import { connectStream } from '../../../src/stores/redis/stream-connection.ts'
import { openScratch } from '../../../test/harness/processes/scratch.ts'
import { createClosedLoop } from '../measuring/closed-loop.ts'
import { type CpuTimes, cpuPerAnswer, readMetric } from '../measuring/cpu.ts'
import { percentile, summarize } from '../measuring/figures.ts'
import {
  type Buckets,
  bucketsSince,
  estimatePercentile,
  readBuckets,
} from '../measuring/histogram.ts'
import { atPace } from '../measuring/open-loop.ts'
import { type RunningService, startApi, startService } from '../measuring/service.ts'
import { issueAccountKeys } from '../orders/pages.ts'
import { openStores } from '../orders/stores.ts'
import type { Part, PartReport } from '../part.ts'
import { failureLines } from '../reporting/comparison.ts'
import { formatAll, formatFigure, renderTable } from '../reporting/table.ts'
import {
  type BenchChange,
  type BenchChanges,
  createChanges,
  FOLLOWED_ACCOUNTS,
} from './lag-changes.ts'
import {
  createLagLedger,
  type LagLedger,
  type LedgerFigures,
  type ShownOrder,
} from './lag-ledger.ts'
import { runLoad, writeLines } from './load.ts'

/** The index refreshes once a second, so a lag is best expressed in refreshes. */
const REFRESH_SECONDS = 1
/** Everything runs for the first time then. */
const WARM_UP_SECONDS = 5
/** Between the end of a listing and the next request: it adds to the lag. */
const POLL_MS = 100
const LIMIT = 100
const CLOCK_READINGS = 20
/** A change that is not shown by then counts as missed. */
const TIMEOUT_MS = 120_000
const CHECK_MS = 50
/** The watch observes visibility by itself, and may record it a little later. */
const METRIC_MS = 500
const METRIC = 'indexing_lag_seconds'
const COLUMNS = ['', 'changes', 'p50 s', 'p90 s', 'p99 s', 'max s']
const LEGEND = `shown: seconds from a change's entry into the stream until a follower has the page with it; a follower at the end of a listing
requests it again 0.1 s later, which is part of the lag; metric: indexing_lag_seconds of the watch for all accounts, from its
buckets; overtaken: changed again before it was shown; max: of all rounds`

/**
 * The lag from end to end: changes enter the stream at a rate, a watch indexes them, and followers of
 * some accounts record when the API first returns each.
 */
export const lagPart: Part = {
  name: 'lag',
  about: 'the delay of a change from the stream to the API',
  async measure(context, scope) {
    const { cluster, options, prefix, signal, log } = context
    const { rate, seconds, rounds, loadOrders } = options
    const own = { INDEX_PREFIX: `${prefix}lag-`, REDIS_PREFIX: `${prefix}lag-` }
    const settings = { ...context.settings, ...own }
    const changes = createChanges(loadOrders, Date.now())
    scope.defer(() => cluster.remove(own.INDEX_PREFIX))
    // Closed after the watch, which would create the stream again.
    const feed = scope.use(await openFeed(parseConfig(settings)))
    log(`loading ${loadOrders} orders …`)
    const scratch = await openScratch('bench-lag')
    scope.defer(scratch.close)
    const file = join(scratch.path, 'orders.ndjson')
    const history = changes.history().map(({ json }) => json)
    await writeLines(file, history)
    const { read, written } = (await runLoad(scratch, file, settings)).summary
    if (read !== written) throw new Error(`the load wrote ${written} of ${read} orders`)
    const services = await openStores(settings, scope)
    const keys = await issueAccountKeys(FOLLOWED_ACCOUNTS, services)
    const awaited = [/this is the writer now/]
    const watch = scope.use(await startService({ args: ['index', 'watch'], settings, awaited }))
    const api = scope.use(await startApi(settings))
    const ledger = createLagLedger(FOLLOWED_ACCOUNTS)
    followAll(api.origin, keys, ledger, scope)
    const readCpu = async (): Promise<LagCpu> => {
      const [shared, apiMicros, watchMicros] = await Promise.all([
        context.readCpu(),
        api.cpuMicros(),
        watch.cpuMicros(),
      ])
      return { ...shared, api: apiMicros, watch: watchMicros }
    }
    const round = { rate, changes, feed, ledger, watch, readCpu, signal }
    const { uncertainMs } = await feed.readClock()
    log('warming up …')
    const warmUp = await measureLag({ ...round, seconds: WARM_UP_SECONDS })
    const samples: LagSample[] = []
    while (samples.length < rounds) {
      const sample = await measureLag({ ...round, seconds })
      samples.push(sample)
      log(`round ${samples.length}/${rounds}: ${describeLag(sample)}`)
    }
    return reportLag({
      rate,
      seconds,
      orders: loadOrders,
      clockUncertainMs: uncertainMs,
      warmUp,
      samples,
    })
  },
}

type Feed = Awaited<ReturnType<typeof openFeed>>

/** Adds changes to the stream, as the platform does. */
async function openFeed(config: Config) {
  const { commands, stream, deadLetterStream, close } = await connectStream({
    urls: config.redisUrls ?? [],
    ca: readCaFile('REDIS_CA_FILE', config.redisCaFile),
    prefix: config.redisPrefix,
  })
  return {
    /** Returns when each change entered, by the clock of Redis, in epoch milliseconds. */
    async add(changes: readonly BenchChange[]): Promise<number[]> {
      const ids = await commands.send((redis) =>
        Promise.all(changes.map(({ json }) => redis.xadd(stream, '*', 'order', json))),
      )
      return ids.map((id) => Number(String(id).split('-')[0]))
    },

    /** How far the clock of Redis is ahead of `performance.now()`, by the fastest of some responses. */
    async readClock() {
      const readings = []
      for (let reading = 0; reading < CLOCK_READINGS; reading += 1) {
        const sentAt = performance.now()
        const [seconds = 0, micros = 0] = await commands.send((redis) => redis.time())
        const uncertainMs = (performance.now() - sentAt) / 2
        const redisMs = 1000 * Number(seconds) + Number(micros) / 1000
        readings.push({ aheadMs: redisMs - sentAt - uncertainMs, uncertainMs })
      }
      return readings.reduce((best, one) => (one.uncertainMs < best.uncertainMs ? one : best))
    },

    /** Removes the stream and its dead letters. */
    async [Symbol.asyncDispose]() {
      try {
        for (const key of [stream, deadLetterStream]) await commands.send((redis) => redis.del(key))
      } finally {
        close()
      }
    },
  }
}

interface Page {
  data: (ShownOrder & { updated_at: string })[]
  next_cursor: string | null
}

/**
 * Follows every account until the end of the scope, by `updated_at_asc` as the README advises: repeatedly
 * from the greatest `updated_at`.
 */
function followAll(
  origin: string,
  keys: ReadonlyMap<string, string>,
  ledger: LagLedger,
  scope: AsyncDisposableStack,
): void {
  const loop = scope.use(createClosedLoop({ origins: [origin] }, keys.size))
  const ending = new AbortController()
  const from = formatInstant(Date.now())

  async function follow(accountId: string, key: string): Promise<void> {
    let greatest = from
    const readToEnd = async () => {
      const listing = { sort: 'updated_at_asc', updated_gte: greatest, limit: `${LIMIT}` }
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query = new URLSearchParams({ ...listing, ...(cursor && { cursor }) })
        const headers = { authorization: `Bearer ${key}` }
        const bytes = await loop.fetch({ method: 'GET', path: `/v1/orders?${query}`, headers })
        const atMs = performance.now()
        const page: Page = JSON.parse(bytes.toString())
        ledger.shown(accountId, page.data, atMs)
        greatest = page.data.at(-1)?.updated_at ?? greatest
        cursor = page.next_cursor
      }
    }
    while (!ending.signal.aborted) {
      await readToEnd().catch((error) => ledger.failed(String(error)))
      await sleep(POLL_MS, undefined, { signal: ending.signal }).catch(() => {})
    }
  }

  const following = [...keys].map(([accountId, key]) => follow(accountId, key))
  scope.defer(async () => {
    ending.abort()
    await Promise.all(following)
  })
}

type LagCpu = CpuTimes & { watch: number }

export interface LagSample extends LedgerFigures {
  /** Changes that entered the stream per second. */
  perSecond: number
  /** Unprocessed stream entries when the last one had entered. */
  backlog: number
  /** `indexing_lag_seconds` of the watch over the round. */
  metric: Buckets
  /** CPUs in use while changes entered. */
  cpu: LagCpu
}

interface Round {
  rate: number
  seconds: number
  changes: BenchChanges
  feed: Feed
  ledger: LagLedger
  watch: RunningService
  readCpu(): Promise<LagCpu>
  signal: AbortSignal
}

/** Sends changes for so many seconds, then waits until the latest version of every order was shown. */
async function measureLag(round: Round): Promise<LagSample> {
  const { ledger, watch, readCpu, signal } = round
  const metricsBefore = await watch.metrics()
  const cpuBefore = await readCpu()
  const startedAt = performance.now()
  const entries = await sendChanges(round)
  const elapsedSeconds = (performance.now() - startedAt) / 1000
  const cpu = cpuPerAnswer(cpuBefore, await readCpu(), 1e6 * elapsedSeconds)
  const backlog = readMetric(await watch.metrics(), 'indexing_stream_backlog')
  const endsAt = performance.now() + TIMEOUT_MS
  while (ledger.due() > 0 && performance.now() < endsAt)
    await sleep(CHECK_MS, undefined, { signal })
  await sleep(METRIC_MS, undefined, { signal })
  const [before, after] = [metricsBefore, await watch.metrics()].map((text) =>
    readBuckets(text, METRIC),
  )
  const metric = bucketsSince(before ?? [], after ?? [])
  return { ...ledger.take(), perSecond: entries / elapsedSeconds, backlog, metric, cpu }
}

/** Returns the number of changes. */
async function sendChanges(round: Round): Promise<number> {
  const { rate, seconds, changes, feed, ledger, signal } = round
  const { aheadMs } = await feed.readClock()
  let entries = 0
  await atPace({ rate, seconds, signal }, async (due) => {
    const added = due.map(() => changes.next())
    for (const change of added) ledger.sent(change)
    const enteredAt = await feed.add(added)
    for (const [at, { serial }] of added.entries()) {
      ledger.entered(serial, (enteredAt[at] ?? Number.NaN) - aheadMs)
    }
    entries += added.length
  })
  return entries
}

export interface LagComparison {
  rate: number
  seconds: number
  /** In the index before the first change. */
  orders: number
  /** How far the clocks of Redis and of the followers may differ. */
  clockUncertainMs: number
  /** Its figures do not count, but its rows have to be right. */
  warmUp: LagSample
  /** One each round. */
  samples: readonly LagSample[]
}

export function reportLag({ warmUp, samples, ...plan }: LagComparison): PartReport {
  const rounds = samples.map(figuresOf)
  const figures = { ...plan, ...summarize(rounds), rounds }
  const { shown, metric, cpu } = figures
  const rows = [
    ['shown', shown, figures.p50, figures.p90, figures.p99, figures.max],
    ['metric', metric.changes, metric.p50, metric.p90, metric.p99, Number.NaN],
  ] as const
  const cells = rows.map(([name, count, ...values]) => [
    name,
    `${count}`,
    ...values.map(formatFigure),
  ])
  const cpus = Object.entries(cpu).map(([name, used]) => `${name} ${formatFigure(used)}`)
  const table = `The lag at ${plan.rate} changes a second for ${plan.seconds} s, beside ${plan.orders} orders

${renderTable(COLUMNS, cells)}
entered: ${formatFigure(figures.perSecond)} a second; unprocessed when the last had entered: ${figures.backlog}
missed: ${figures.missed}; overtaken: ${figures.overtaken}; the clocks agree to ${formatFigure(plan.clockUncertainMs)} ms
CPUs: ${cpus.join(', ')}
${LEGEND}`
  const failures = [warmUp, ...samples].flatMap(({ missed, failures: wrong }, round) => {
    const all = { ...wrong, ...(missed > 0 && { 'changes that were never shown': missed }) }
    return failureLines(`lag, ${round === 0 ? 'warming up' : `round ${round}`}`, all)
  })
  const costs = {
    'p50 lag÷refresh': figures.p50 / REFRESH_SECONDS,
    'p99 lag÷refresh': figures.p99 / REFRESH_SECONDS,
    'CPU watch÷OpenSearch': cpu.watch / cpu.openSearch,
  }
  return { tables: [table], figures, costs, failures }
}

/** The figures of a round, in seconds. */
function figuresOf({ lagsMs, metric, failures: _, ...rest }: LagSample) {
  const at = (share: number) => (lagsMs.length > 0 ? percentile(lagsMs, share) / 1000 : Number.NaN)
  const estimate = (share: number) => estimatePercentile(metric, share)
  return {
    ...rest,
    shown: lagsMs.length,
    ...{ p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) },
    metric: {
      changes: metric.at(-1)?.count ?? 0,
      ...{ p50: estimate(0.5), p90: estimate(0.9), p99: estimate(0.99) },
    },
  }
}

function describeLag(sample: LagSample): string {
  const { perSecond, p50, p99, max } = figuresOf(sample)
  return `${formatFigure(perSecond)} changes/s, p50/p99/max ${formatAll([p50, p99, max])} s`
}
