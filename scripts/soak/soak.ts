import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../src/demo/random.ts'
import { type RunningApi, startApi } from '../../test/harness/processes/service.ts'
import { startOpenLoop } from '../../test/harness/traffic/open-loop.ts'
import {
  createResponseStats,
  type ResponseStats,
} from '../../test/harness/traffic/response-stats.ts'
import {
  removeSeed,
  type SeededData,
  seedServices,
  seedSettings,
} from '../../test/harness/traffic/seed.ts'
import { createSender } from '../../test/harness/traffic/sender.ts'
import { createTraffic } from '../../test/harness/traffic/traffic.ts'
import { leastOf, type Memory, readMemory } from './memory.ts'
import type { SoakOptions } from './options.ts'

export interface Soak {
  options: SoakOptions
  /** Addresses of OpenSearch and Redis. */
  services: Readonly<Record<string, string>>
  signal: AbortSignal
  /** Receives the memory and the responses of every minute. */
  onMinute(minute: number, memory: Memory, stats: ResponseStats): void
}

const SEED = 30
const MINUTE_MS = 60_000
const SAMPLE_MS = 5_000
const LATEST_MS = 15_000
/** The share of requests whose client disconnects before the response. */
const ABANDONED_SHARE = 0.05
const LATEST_ABANDON_MS = 20

/** Sends traffic at a steady rate to its own service, and returns the memory of every minute. */
export async function soak(plan: Soak): Promise<Memory[]> {
  const settings = seedSettings(plan.services)
  try {
    const platform = await seedServices(settings)
    await using service = await startApi(settings)
    return await drive(plan, platform, service)
  } finally {
    await removeSeed(settings)
  }
}

async function drive(
  { options, signal, onMinute }: Soak,
  { truth, keys }: SeededData,
  service: RunningApi,
): Promise<Memory[]> {
  const sender = createSender(service.origin, LATEST_MS)
  const random = createRandom(SEED, 0, 0)
  const traffic = createTraffic(truth, keys, random)
  let stats = createResponseStats()

  async function sendOne() {
    const request = traffic.next()
    if (random.chance(ABANDONED_SHARE)) {
      await sender.abandon(request, random.between(0, LATEST_ABANDON_MS))
    } else {
      const into = stats
      into.add(request, await sender.send(request), false)
    }
    request.onSettled?.()
  }

  const stopPace = startOpenLoop(options.rate, () => void sendOne())
  const minutes: Memory[] = []
  try {
    while (minutes.length < options.minutes) {
      const samples: Memory[] = []
      for (const endsAt = performance.now() + MINUTE_MS; performance.now() < endsAt; ) {
        await sleep(SAMPLE_MS, undefined, { signal })
        samples.push(readMemory(await service.metrics()))
      }
      const least = leastOf(samples)
      minutes.push(least)
      onMinute(minutes.length, least, stats)
      stats = createResponseStats()
    }
    return minutes
  } finally {
    stopPace()
    await sender.close()
  }
}
