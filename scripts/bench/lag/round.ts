import { setTimeout as sleep } from 'node:timers/promises'
import type { CpuTimes } from '../measuring/cpu.ts'
import { type Buckets, bucketsSince, readBuckets } from '../measuring/histogram.ts'
import { atPace } from '../measuring/pace.ts'
import type { RunningService } from '../measuring/running-service.ts'
import type { BenchChanges } from './changes.ts'
import type { Feed } from './feed.ts'
import type { LagFigures, LagLedger } from './ledger.ts'

/** What was measured while changes came for a while, and until the last of them was shown. */
export interface LagSample extends LagFigures {
  /** Changes that entered the stream a second. */
  perSecond: number
  /** Entries of the stream that were not done with when the last one had entered. */
  backlog: number
  /** What the watch told of all this in `indexing_lag_seconds`. */
  metric: Buckets
  /** While changes came: seconds of CPU time a second. */
  cpu: LagCpu
}

export type LagCpu = CpuTimes & { watch: number }

export interface LagRound {
  rate: number
  seconds: number
  changes: BenchChanges
  feed: Feed
  ledger: LagLedger
  watch: Pick<RunningService, 'metrics'>
  /** In microseconds. */
  readCpu(): Promise<LagCpu>
  signal: AbortSignal
}

/** How long the last changes may take until they count as missed. */
const PATIENCE_MS = 120_000
const LOOK_MS = 50
/** The watch asks by itself what is shown, and may learn it a little later. */
const METRIC_MS = 500

/** Sends changes for so many seconds, then waits until the last version of every order was shown. */
export async function measureLag(round: LagRound): Promise<LagSample> {
  const { ledger, watch, readCpu, signal } = round
  const metricsBefore = await watch.metrics()
  const cpuBefore = await readCpu()
  const startedAt = performance.now()
  const entries = await send(round)
  const elapsedSeconds = (performance.now() - startedAt) / 1000
  const cpuAfter = await readCpu()
  const backlog = backlogIn(await watch.metrics())

  const endsAt = performance.now() + PATIENCE_MS
  while (ledger.due() > 0 && performance.now() < endsAt) await sleep(LOOK_MS, undefined, { signal })
  await sleep(METRIC_MS, undefined, { signal })
  const metricsAfter = await watch.metrics()
  return {
    ...ledger.take(),
    perSecond: entries / elapsedSeconds,
    backlog,
    metric: bucketsSince(readBuckets(metricsBefore, METRIC), readBuckets(metricsAfter, METRIC)),
    cpu: cpuShares(cpuBefore, cpuAfter, elapsedSeconds),
  }
}

/** Answers how many entered. */
async function send({ rate, seconds, changes, feed, ledger, signal }: LagRound): Promise<number> {
  const { aheadMs } = await feed.readClock()
  let entries = 0
  await atPace({ rate, seconds, signal }, async (due) => {
    const news = due.map(() => changes.next())
    for (const change of news) ledger.sent(change)
    const enteredAt = await feed.add(news)
    for (const [at, { serial }] of news.entries()) {
      ledger.entered(serial, (enteredAt[at] ?? Number.NaN) - aheadMs)
    }
    entries += news.length
  })
  return entries
}

const METRIC = 'indexing_lag_seconds'

function backlogIn(metrics: string): number {
  return Number(/^indexing_stream_backlog (\S+)/m.exec(metrics)?.[1])
}

function cpuShares(before: LagCpu, after: LagCpu, seconds: number): LagCpu {
  const share = (name: keyof LagCpu) => (after[name] - before[name]) / 1e6 / seconds
  return {
    openSearch: share('openSearch'),
    redis: share('redis'),
    api: share('api'),
    bench: share('bench'),
    watch: share('watch'),
  }
}
