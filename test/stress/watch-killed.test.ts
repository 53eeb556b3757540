import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createRandom } from '../../src/demo/random.ts'
import { startWatch, type WatchProcess } from '../support/cli/watch-process.ts'
import { byEffort } from '../support/effort.ts'
import { createHistory, type History } from '../support/simulation/change-history.ts'
import { type Backend, createBackend, KILL_LOOP_LEASE } from '../support/stores/backend.ts'
import { readStored } from '../support/stores/stored-orders.ts'
import { type ChangeFeed, openChangeFeed } from '../support/streams/change-feed.ts'

const KILLS = byEffort(8, 20)
const CHANGES_A_KILL = 2_500
const LONGEST_LIFE_MS = 1_500
/** One in this many entries is not an order. */
const BAD = 1_000
const ADDED_AT_ONCE = 250
const ACCOUNTS = Array.from({ length: 10 }, (_, n) => `acc_${n}`)

const random = createRandom(1, 6, 0)

let backend: Backend
let feed: ChangeFeed
let watches: WatchProcess[]
beforeAll(() => {
  backend = createBackend()
  feed = openChangeFeed(backend.env)
  watches = []
})
afterAll(async () => {
  await Promise.all(watches.map((watch) => watch.stop('SIGKILL')))
  await feed.close()
  await backend.remove()
})

function start(): WatchProcess {
  const watch = startWatch({ ...backend.env, ...KILL_LOOP_LEASE })
  watches.push(watch)
  return watch
}

/** Enqueues changes; some are out of order, duplicates or not orders. */
async function add(history: History, count: number): Promise<string[]> {
  const bad: string[] = []
  for (let left = count; left > 0; left -= ADDED_AT_ONCE) {
    const some: object[] = Array.from({ length: ADDED_AT_ONCE }, () => history.next())
    const again = random.pick(some)
    if (random.chance(0.5)) some.reverse()
    await feed.add(...some, again)
    if (random.between(1, BAD) <= ADDED_AT_ONCE) bad.push(...(await feed.add('{"id":"ord_1",')))
  }
  return bad
}

/**
 * Of two processes, the writer is killed repeatedly: right after it becomes the writer,
 * during a bulk, and between a bulk and its acknowledgement.
 */
it(`a watch that is killed ${KILLS} times loses none of ${KILLS * CHANGES_A_KILL} changes`, async () => {
  const history = createHistory(1, ACCOUNTS)
  const bad: string[] = []
  let writer = start()
  for (let kill = 0; kill < KILLS; kill++) {
    await writer.becomesWriter() // Before the second process starts.
    const standby = start()
    const adding = add(history, CHANGES_A_KILL)
    await pause(random.chance(0.2) ? 0 : random.between(0, LONGEST_LIFE_MS))
    expect(await writer.stop('SIGKILL')).toBeNull()
    bad.push(...(await adding))
    writer = standby
  }
  await vi.waitFor(async () => expect(await feed.backlog()).toBe(0), {
    timeout: 240_000,
    interval: 200,
  })
  expect(await writer.stop('SIGTERM')).toBe(0)

  await backend.refresh()
  expect(await readStored(`${backend.env['INDEX_PREFIX']}`)).toEqual(history.truth())
  const deadLetters = (await feed.deadLetters()).map(({ entry_id }) => entry_id)
  expect(new Set(deadLetters)).toEqual(new Set(bad))
  expect(deadLetters).toHaveLength(bad.length)
}, 480_000)
