import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../src/demo/random.ts'
import {
  createResponseStats,
  type ResponseStats,
} from '../../test/harness/traffic/response-stats.ts'
import { seedServices, seedSettings } from '../../test/harness/traffic/seed.ts'
import { createSender, type Sender } from '../../test/harness/traffic/sender.ts'
import { createTraffic, type Traffic } from '../../test/harness/traffic/traffic.ts'
import { startService } from '../bench/measuring/running-service.ts'
import { followAnswerTimes } from './answer-times.ts'
import { startArrivals } from './arrivals.ts'
import { type Cell, countOf, suffer } from './cell.ts'
import { type FaultyService, faults } from './faults.ts'
import { startProxiedServices } from './proxied-services.ts'

export interface MatrixPlan {
  /** Requests a second, whatever becomes of them. */
  rate: number
  /** For how long everything has to be right before the first fault: OpenSearch is slow at first. */
  warmMs: number
  /** How long a fault lasts. */
  faultMs: number
  /** How long there is no fault after it, at least. */
  restMs: number
  /** The service's `REQUEST_DEADLINE_MS` and `SEARCH_DEADLINE_MS`. */
  requestDeadlineMs: number
  searchDeadlineMs: number
}

export interface MatrixOptions extends MatrixPlan {
  signal: AbortSignal
  /** Told what is going on. */
  log(text: string): void
}

export interface Matrix {
  plan: MatrixPlan
  /** After so long no answer would come any more. */
  latestMs: number
  healthy: ResponseStats
  /** The longest answer without a fault, by the service's own log. */
  healthyLongestMs: number
  cells: readonly Cell[]
  /** After the faults of each service. */
  backAgain: Readonly<Record<FaultyService, ResponseStats>>
  /** Listings that were walked to their end. */
  walked: number
  /** As the service counts them, from `healthy` on. */
  turnedAway: number
  /** When all was over and quiet. */
  connectionsLeft: Readonly<Record<FaultyService, number>>
  /** Files and sockets of the service, before and after; NaN where the system does not tell. */
  openFiles: readonly [before: number, after: number]
}

const SEED = 5
/** For a busy machine. */
const SLACK_MS = 10_000
const WARM_UP_PATIENCE_MS = 120_000
const QUIET_PATIENCE_MS = 20_000
const LOOK_MS = 50

/** Lets a service of its own, in a process of its own, run into every fault while requests keep arriving. */
export async function runMatrix({ signal, log, ...plan }: MatrixOptions): Promise<Matrix> {
  const { rate, warmMs, faultMs, restMs, requestDeadlineMs, searchDeadlineMs } = plan
  const services = await startProxiedServices()
  try {
    const { proxies } = services
    const settings = seedSettings({
      REQUEST_DEADLINE_MS: `${requestDeadlineMs}`,
      SEARCH_DEADLINE_MS: `${searchDeadlineMs}`,
    })
    const { truth, keys } = await seedServices({ ...settings, ...services.direct })
    const service = await startService({
      args: ['serve'],
      settings: { ...settings, ...services.proxied },
      awaited: [/Server listening at (http:[^"]+)/],
    })
    const latestMs = requestDeadlineMs + SLACK_MS
    const sender = createSender(service.said[0] ?? '', latestMs)
    const traffic = createTraffic(truth, keys, createRandom(SEED, 0, 0))
    const read = async (metric: string) => sumOf(await service.metrics(), metric)
    const readAlone = () => read('limiter_degraded_decisions_total')
    const readTurnedAway = () => read('http_shed_requests_total')
    const readFiles = () => read('process_open_fds')

    try {
      await introduceKeys(traffic, sender, signal)
      const filesBefore = await readFiles()
      const healthy = createResponseStats()
      const backAgain = { OpenSearch: createResponseStats(), Redis: createResponseStats() }
      const cells: Cell[] = []
      let turnedAwayBefore = 0
      let healthyLongestMs = 0
      const arrivals = startArrivals(rate, traffic, sender)
      try {
        await patiently(signal, async () => arrivals.phase().isRight(warmMs))
        turnedAwayBefore = await readTurnedAway()
        arrivals.enter({ tally: healthy, isFault: false, mayFail: false })
        const answerTimes = await followAnswerTimes(service.logFile)
        await sleep(faultMs, undefined, { signal })
        healthyLongestMs = await answerTimes.longestMs()
        const common = { arrivals, traffic, faultMs, restMs, readAlone, answerTimes, signal }
        for (const name of ['OpenSearch', 'Redis'] as const) {
          const own = { service: name, proxies: proxies[name], backAgain: backAgain[name] }
          for (const fault of faults[name]) {
            log(`${name}: ${fault.name}`)
            cells.push(await suffer({ ...common, ...own, fault }))
          }
        }
      } finally {
        await arrivals.stop()
      }

      await sender.close()
      const quietBy = performance.now() + QUIET_PATIENCE_MS
      while (countOf(proxies.OpenSearch, 'open') > 0 && performance.now() < quietBy) {
        await sleep(LOOK_MS, undefined, { signal })
      }
      return {
        plan,
        latestMs,
        healthy,
        healthyLongestMs,
        cells,
        backAgain,
        walked: traffic.completedWalks(),
        connectionsLeft: {
          OpenSearch: countOf(proxies.OpenSearch, 'open'),
          Redis: countOf(proxies.Redis, 'open'),
        },
        turnedAway: (await readTurnedAway()) - turnedAwayBefore,
        openFiles: [filesBefore, await readFiles()],
      }
    } finally {
      await sender.close()
      await service.stop()
    }
  } finally {
    await services.stop()
  }
}

/** Lets the service see every key while OpenSearch is there; what it has seen it knows for some minutes without. */
async function introduceKeys(traffic: Traffic, sender: Sender, signal: AbortSignal): Promise<void> {
  for (const ask of traffic.warmUpRequests()) {
    await patiently(signal, async () => {
      const outcome = await sender.send(ask)
      return 'status' in outcome && outcome.status !== 503
    })
  }
}

/** Looks until it is so. Throws when this machine cannot do so much. */
async function patiently(signal: AbortSignal, isSo: () => Promise<boolean>): Promise<void> {
  const patientUntil = performance.now() + WARM_UP_PATIENCE_MS
  while (!(await isSo())) {
    if (performance.now() > patientUntil) throw new Error('too slow for that rate, with no fault')
    await sleep(LOOK_MS, undefined, { signal })
  }
}

/** Over all labels; NaN when there is no such metric. */
function sumOf(metrics: string, name: string): number {
  const lines = [...metrics.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'gm'))]
  return lines.length === 0 ? Number.NaN : lines.reduce((sum, [, value]) => sum + Number(value), 0)
}
