import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../../../src/demo/random.ts'
import type { WatchProcess } from '../cli/watch-process.ts'
import type { History } from '../simulation/change-history.ts'
import type { FeedEntry } from './change-feed.ts'

const LONGEST_LIFE_MS = 1_500
const ADDED_AT_ONCE = 250

export interface KillWritersOptions {
  start(): WatchProcess
  add(...orders: readonly FeedEntry[]): Promise<string[]>
  history: History
  random: Random
  kills: number
  /** The number of changes that flow meanwhile; a multiple of 250. */
  changesPerKill: number
}

/**
 * Of two processes, kills the writer repeatedly while changes flow: right after it becomes the
 * writer, during a write, and between a write and its acknowledgement. Returns the last writer, and
 * the ids of the entries that are not orders.
 */
export async function killWriters({
  start,
  add,
  history,
  random,
  kills,
  changesPerKill,
}: KillWritersOptions): Promise<{ writer: WatchProcess; bad: string[] }> {
  const bad: string[] = []
  let writer = start()
  for (let kill = 0; kill < kills; kill++) {
    await writer.becomesWriter() // Before the second process starts.
    const standby = start()
    const adding = addChanges()
    await pause(random.chance(0.2) ? 0 : random.between(0, LONGEST_LIFE_MS))
    await writer.stop('SIGKILL')
    await adding
    writer = standby
  }
  return { writer, bad }

  /** Some changes are out of order, duplicates or not orders. */
  async function addChanges(): Promise<void> {
    for (let left = changesPerKill; left > 0; left -= ADDED_AT_ONCE) {
      const some: object[] = Array.from({ length: ADDED_AT_ONCE }, () => history.next())
      const again = random.pick(some)
      if (random.chance(0.5)) some.reverse()
      await add(...some, again)
      if (random.chance(0.25)) bad.push(...(await add('{"id":"ord_1",')))
    }
  }
}
