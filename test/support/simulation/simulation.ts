import type { Random } from '../../../src/demo/random.ts'
import type { SourceOrder } from '../../../src/indexing/projection/source-order.ts'
import type { OrderFilters } from '../../../src/orders/filters.ts'
import { changeOf } from '../orders/changes.ts'
import {
  type AlternatingWriters,
  NotSent,
  OutcomeUnknown,
  START_MS,
} from './alternating-writers.ts'
import { createOrderGenerator, isVisible, type Version } from './order-generator.ts'
import type { Row } from './rows.ts'

/**
 * A shop and the writers that bring its changes into a store: out of order, again after a lost answer. What
 * was applied is the truth to hold a listing against.
 */
export function createSimulation(random: Random, reader: string, turns: AlternatingWriters) {
  const shop = createOrderGenerator(random, reader, START_MS)
  const applied = new Map<string, Version>()
  const born: string[] = []
  /** What was sent and not confirmed: the reader may be shown it, or not. */
  const unsettled = new Set<Version>()
  let waiting: Version[] = []
  let written: () => void = () => {}

  /** One bulk of some of what waits. */
  async function write(atMost: number): Promise<void> {
    const bulk = takeWaiting(random.between(1, atMost))
    for (const version of bulk) unsettled.add(version)
    written()
    try {
      await turns.write(bulk.map(changeOf), random)
    } catch (error) {
      if (error instanceof NotSent) for (const version of bulk) unsettled.delete(version)
      else if (!(error instanceof OutcomeUnknown)) throw error
      waiting.push(...bulk)
      return
    }
    for (const version of bulk) {
      unsettled.delete(version)
      if (version.version > (applied.get(version.id)?.version ?? 0))
        applied.set(version.id, version)
    }
    written()
    if (random.chance(0.2)) waiting.push(...bulk) // The answer was lost, so they come again.
  }

  /** Up to `count` versions of different orders, in any order. */
  function takeWaiting(count: number): Version[] {
    const shuffled = waiting.map((version) => ({ version, at: random.next() }))
    shuffled.sort((one, other) => one.at - other.at)
    const taken = new Map<string, Version>()
    for (const { version } of shuffled) {
      if (taken.size < count && !taken.has(version.id)) taken.set(version.id, version)
    }
    waiting = waiting.filter((version) => taken.get(version.id) !== version)
    return [...taken.values()]
  }

  function happen(): void {
    const version = shop.change()
    if (version.version === 1) born.push(version.id)
    waiting.push(version)
    shop.tick(random.pick([0, 0, 1, 2]))
  }

  async function settle(): Promise<void> {
    while (waiting.length > 0) await write(waiting.length)
  }

  return {
    /** The ids of all orders ever created, oldest first. */
    born,

    /** Calls before and after every bulk: when the truth may have changed. */
    onWrite(told: () => void) {
      written = told
    },

    /** Lets the shop change orders and the processes write some of it; from here on time is later. */
    async churn(changes: number): Promise<void> {
      shop.tick(1)
      for (let change = 0; change < changes; change++) {
        happen()
        if (random.chance(0.8)) await write(5)
      }
    },

    /** Lets the shop change orders, and everything be written. */
    async populate(changes: number): Promise<void> {
      for (let change = 0; change < changes; change++) happen()
      await settle()
    },

    /** Until everything that happened is written. */
    settle,

    /** What the reader should be shown now, without what may be gone already. */
    truth({ statuses }: Pick<OrderFilters, 'statuses'>): Map<string, Row> {
      const isListed = (version: Version): version is SourceOrder =>
        isVisible(version, reader) && (statuses.length === 0 || statuses.includes(version.status))
      const rows = new Map<string, Row>()
      for (const version of applied.values()) {
        if (!isListed(version)) continue
        const { id, amount_total: content, changed_at } = version
        rows.set(id, { id, content, hasUpdatedAt: changed_at != null })
      }
      for (const version of unsettled) if (!isListed(version)) rows.delete(version.id)
      return rows
    },
  }
}

export type Simulation = ReturnType<typeof createSimulation>
