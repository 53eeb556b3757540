import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../src/demo/random.ts'
import { startApi } from '../../test/harness/processes/service.ts'
import {
  createResponseStats,
  type ResponseStats,
} from '../../test/harness/traffic/response-stats.ts'
import { seedServices, seedSettings } from '../../test/harness/traffic/seed.ts'
import { createSender, type Sender } from '../../test/harness/traffic/sender.ts'
import { createTraffic, type Traffic } from '../../test/harness/traffic/traffic.ts'
import { startArrivals } from './arrivals.ts'
import { type Cell, countOf, suffer } from './cell.ts'
import { type FaultyService, faults } from './faults.ts'
import { startProxiedServices } from './proxied-services.ts'
import { followResponseTimes } from './response-times.ts'

export interface MatrixPlan {
  /** Requests a second, independent of their responses. */
  rate: number
  /** How long all responses are right before the first fault: OpenSearch is slow at the start. */
  warmMs: number
  /** How long a fault lasts. */
  faultMs: number
  /** The minimum time between two faults. */
  restMs: number
  /** The service's `REQUEST_DEADLINE_MS` and `SEARCH_DEADLINE_MS`. */
  requestDeadlineMs: number
  searchDeadlineMs: number
}

export interface MatrixOptions extends MatrixPlan {
  signal: AbortSignal
  log(text: string): void
}

export interface Matrix {
  plan: MatrixPlan
  /** A slower response counts as hung. */
  latestMs: number
  healthy: ResponseStats
  /** The longest response without a fault, by the log of the service. */
  healthyLongestMs: number
  cells: readonly Cell[]
  /** After the faults of each service. */
  backAgain: Readonly<Record<FaultyService, ResponseStats>>
  /** Listings that were paged to their end. */
  walked: number
  /** As the service counts them, from `healthy` on. */
  turnedAway: number
  /** After the last fault, without traffic. */
  connectionsLeft: Readonly<Record<FaultyService, number>>
  /** Files and sockets of the service, before and after; NaN on systems that do not report them. */
  openFiles: readonly [before: number, after: number]
}

const SEED = 5
/** Tolerance for a busy machine. */
const SLACK_MS = 10_000
const WARM_UP_TIMEOUT_MS = 120_000
const QUIET_TIMEOUT_MS = 20_000
const CHECK_MS = 50

/** Starts a service in its own process, and injects every fault while requests keep arriving. */
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
    await using service = await startApi({ ...settings, ...services.proxied })
    const latestMs = requestDeadlineMs + SLACK_MS
    const sender = createSender(service.origin, latestMs)
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
        await waitUntil(signal, async () => arrivals.phase().isRight(warmMs))
        turnedAwayBefore = await readTurnedAway()
        arrivals.enter({ stats: healthy, isFault: false, mayFail: false })
        const responseTimes = await followResponseTimes(service.logFile)
        await sleep(faultMs, undefined, { signal })
        healthyLongestMs = await responseTimes.longestMs()
        const common = { arrivals, traffic, faultMs, restMs, readAlone, responseTimes, signal }
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
      const quietBy = performance.now() + QUIET_TIMEOUT_MS
      while (countOf(proxies.OpenSearch, 'open') > 0 && performance.now() < quietBy) {
        await sleep(CHECK_MS, undefined, { signal })
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
    }
  } finally {
    await services.stop()
  }
}

/** Sends every key once while OpenSearch is healthy: the service caches keys for some minutes. */
async function introduceKeys(traffic: Traffic, sender: Sender, signal: AbortSignal): Promise<void> {
  for (const request of traffic.warmUpRequests()) {
    await waitUntil(signal, async () => {
      const outcome = await sender.send(request)
      return 'status' in outcome && outcome.status !== 503
    })
  }
}

/** Waits for a condition. Throws when the machine is too slow for the traffic. */
async function waitUntil(signal: AbortSignal, condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + WARM_UP_TIMEOUT_MS
  while (!(await condition())) {
    if (performance.now() > deadline)
      throw new Error('this machine is too slow for the rate, without any fault')
    await sleep(CHECK_MS, undefined, { signal })
  }
}

/** The sum over all labels; NaN where the metric is absent. */
function sumOf(metrics: string, name: string): number {
  const lines = [...metrics.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'gm'))]
  return lines.length === 0 ? Number.NaN : lines.reduce((sum, [, value]) => sum + Number(value), 0)
}
