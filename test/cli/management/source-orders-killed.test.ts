import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'
import { createRandom } from '../../../src/demo/random.ts'
import { openServices } from '../../../src/services.ts'
import type { PushingService } from '../../support/cli/pushing-service.ts'
import { startPushingService } from '../../support/cli/pushing-service.ts'
import { startWatch, type WatchProcess } from '../../support/cli/watch-process.ts'
import { byEffort } from '../../support/effort.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { createHistory } from '../../support/simulation/change-history.ts'
import {
  type Backend,
  createBackend,
  KILL_LOOP_LEASE,
  onServices,
} from '../../support/stores/backend.ts'
import { readStored, readStoredEmbedded } from '../../support/stores/stored-orders.ts'
import { openChangeFeed } from '../../support/streams/change-feed.ts'

const KILLS = byEffort(4, 15)
const CALLS = byEffort(24, 120)
const CHANGES_A_CALL = 250
const LONGEST_LIFE_MS = 1_000
/** Calls that are sent at the same time. */
const PARALLEL = 3
const ACCOUNTS = ['acc_north', 'acc_south', 'acc_west']

let backend: Backend
let env: Record<string, string>
const processes: (PushingService | WatchProcess)[] = []
beforeEach(() => {
  backend = createBackend()
  // Without Redis, the process writes to OpenSearch itself.
  const { REDIS_URL: _, ...direct } = backend.env
  env = direct
})
afterEach(async () => {
  await Promise.all(processes.splice(0).map((one) => one.stop('SIGKILL')))
  await backend.remove()
})

function start(settings = env): PushingService {
  const service = startPushingService(settings)
  processes.push(service)
  return service
}

async function readOrders() {
  await backend.refresh()
  const { INDEX_PREFIX = '' } = env
  return onServices ? await readStored(INDEX_PREFIX) : readStoredEmbedded(backend.folder)
}

/** The process was killed, or responded 503. */
function nullIfUnanswered(error: Error): null {
  if (error instanceof TypeError || error.message.includes('service_unavailable')) return null
  throw error
}

/**
 * Pushes a history to a process that is killed repeatedly. A call is sent again until it
 * succeeds, and some a second time. Calls of one round overlap, so changes arrive out of order.
 */
async function pushThroughKills(env: Record<string, string>) {
  const settings = { ...env, ...KILL_LOOP_LEASE }
  const random = createRandom(1, 7, 0)
  const history = createHistory(3, ACCOUNTS)
  let service = start(settings)
  let kills = 0
  const isDone = new AbortController()

  async function killRepeatedly(): Promise<void> {
    for (; kills < KILLS && !isDone.signal.aborted; kills++) {
      await service.waitForLog('management at')
      await pause(random.between(0, LONGEST_LIFE_MS))
      await service.stop('SIGKILL')
      service = start(settings)
    }
  }

  async function pushUntilAnswered(orders: readonly object[]) {
    for (;;) {
      const answer = await service.push(orders).catch(nullIfUnanswered)
      if (answer !== null) return answer
      await pause(20)
    }
  }

  const killing = killRepeatedly()
  let refused = 0
  for (let sent = 0; sent < CALLS || kills < KILLS; sent += PARALLEL) {
    const calls = Array.from({ length: PARALLEL }, () => {
      const orders: object[] = Array.from({ length: CHANGES_A_CALL }, () => history.next())
      return random.chance(0.5) ? orders.toReversed() : orders
    })
    const again = random.chance(0.3) ? calls.slice(0, 1) : []
    const answers = await Promise.all([...calls, ...again].map(pushUntilAnswered))
    refused += answers.reduce((sum, answer) => sum + answer.refused, 0)
  }
  isDone.abort()
  await killing
  return { history, refused, service, kills }
}

describe('a process that is killed between acceptance and write', () => {
  it('every acknowledged order is in the index, when the process writes it', async () => {
    const { history, refused, kills } = await pushThroughKills(env)
    expect([refused, kills]).toEqual([0, KILLS])
    expect(await readOrders()).toEqual(history.truth())
  })

  // The embedded store has no stream.
  const watched = onServices
    ? ['every accepted order is written by a watch, which is killed too']
    : []
  it.for(watched)('%s', async () => {
    const feed = openChangeFeed(backend.env)
    try {
      const first = startWatch({ ...backend.env, ...KILL_LOOP_LEASE })
      processes.push(first)
      await first.becomesWriter() // Before the second process starts.
      processes.push(startWatch(backend.env))
      const pushed = pushThroughKills(backend.env)
      await pause(LONGEST_LIFE_MS)
      await first.stop('SIGKILL')
      const { history, refused } = await pushed
      await feed.allProcessed()
      expect([refused, await feed.deadLetters()]).toEqual([0, []])
      expect(await readOrders()).toEqual(history.truth())
    } finally {
      await feed.close()
    }
  })
})

it('a call in progress gets its response after SIGTERM, and the next writer need not wait', async () => {
  const service = start()
  const orders = Array.from({ length: 1_000 }, (_, n) => sourceOrder({ id: `ord_${n}` }))
  await service.push(orders.slice(0, 1)) // The process listens and is the writer.
  const calls = [service.push(orders), service.push(orders)]
  const code = service.stop('SIGTERM')
  const answers = await Promise.allSettled(calls)
  expect(await code).toBe(0)
  const services = await openServices(parseConfig(env))
  try {
    const delays: string[] = []
    const index = await services.openIndex({ onDelay: (reason) => delays.push(reason) })
    await index.close()
    expect(delays).toEqual([])
  } finally {
    await services.close()
  }
  // A connection that the process had not accepted yet is refused, and its call sent again.
  for (const answer of answers) {
    if (answer.status === 'fulfilled') expect(answer.value).toMatchObject({ refused: 0 })
  }
  const isAnswered = answers.some(({ status }) => status === 'fulfilled')
  expect((await readOrders()).size).toBe(isAnswered ? 1_000 : 1)
})
