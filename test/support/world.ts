import type { Random } from '../../src/demo/random.ts'
import type { OrderIndex } from '../../src/indexing/order-index.ts'
import { createWriter, type Writer } from '../../src/indexing/writer.ts'
import type { Clock } from '../../src/lib/clock.ts'
import type { OrderFilters } from '../../src/orders/order-store.ts'
import { changeOf } from './changes.ts'
import { createShop, isVisible, type Version } from './shop.ts'

/** What a row of a listing tells of its order: enough to know which version it shows. */
export interface Row {
  id: string
  content: number
  filled: boolean
}

const START_MS = Date.parse('2026-03-01T12:00:00Z')

/**
 * A shop and the two processes that bring its changes into a store: out of order, again after a lost
 * answer, dying with a bulk half done, with clocks that are apart and are set back. What was applied is
 * the truth to hold a listing against.
 */
export async function createWorld(
  random: Random,
  reader: string,
  openIndex: (clock: Clock) => Promise<OrderIndex>,
) {
  const shop = createShop(random, reader, START_MS)
  const applied = new Map<string, Version>()
  const born: string[] = []
  let waiting: Version[] = []
  const processes = await Promise.all([START_MS + 60_000, START_MS - 60_000].map(startProcess))

  async function startProcess(nowMs: number): Promise<{ tick(ms: number): void; writer: Writer }> {
    const clock = () => nowMs
    const writer = createWriter(dying(await openIndex(clock)), clock)
    return { tick: (ms) => (nowMs += ms), writer }
  }

  function dying(index: OrderIndex): Pick<OrderIndex, 'bulk'> {
    return {
      bulk: (decide) =>
        index.bulk(async (stored) => {
          const writes = await decide(stored)
          if (random.chance(0.1)) throw new Error('died before the bulk was sent')
          return writes
        }),
    }
  }

  /** One bulk of some of what waits. */
  async function write(): Promise<void> {
    const { tick, writer } = random.pick(processes)
    tick(random.pick([0, 1, 5, 1_000, -30_000]))
    const bulk = takeWaiting(random.between(1, 5))
    try {
      await writer.write(bulk.map(changeOf), 'live')
    } catch {
      waiting.push(...bulk)
      return
    }
    for (const version of bulk) {
      if (version.version > (applied.get(version.id)?.version ?? 0))
        applied.set(version.id, version)
    }
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

  return {
    /** The ids of all orders ever created, oldest first. */
    born,

    /** Lets the shop change orders and the processes write some of it; from here on time is later. */
    async churn(changes: number): Promise<void> {
      shop.tick(1)
      for (let change = 0; change < changes; change++) {
        const version = shop.change()
        if (version.version === 1) born.push(version.id)
        waiting.push(version)
        shop.tick(random.pick([0, 0, 1, 2]))
        if (random.chance(0.8)) await write()
      }
    },

    /** What the reader should be shown now. */
    truth({ statuses }: Pick<OrderFilters, 'statuses'>): Map<string, Row> {
      const rows = new Map<string, Row>()
      for (const version of applied.values()) {
        if (!isVisible(version, reader)) continue
        if (statuses.length > 0 && !statuses.includes(version.status)) continue
        const { id, amount_total: content, changed_at } = version
        rows.set(id, { id, content, filled: changed_at != null })
      }
      return rows
    },
  }
}

export type World = Awaited<ReturnType<typeof createWorld>>
