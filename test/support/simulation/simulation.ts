import type { Random } from '../../../src/demo/random.ts'
import type { SourceOrder } from '../../../src/indexing/projection/source-order.ts'
import type { OrderFilters } from '../../../src/orders/filters/filters.ts'
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
 * An order generator and the writers that store its changes: out of order, and again after a lost
 * response. The applied versions are the truth for checks of a listing.
 */
export function createSimulation(random: Random, reader: string, writers: AlternatingWriters) {
  const generator = createOrderGenerator(random, reader, START_MS)
  const applied = new Map<string, Version>()
  const born: string[] = []
  /** Versions sent and not confirmed: the reader may or may not see them. */
  const unsettled = new Set<Version>()
  let pending: Version[] = []
  let written: () => void = () => {}

  /** Writes one bulk of some pending versions. */
  async function write(atMost: number): Promise<void> {
    const bulk = pickPending(random.between(1, atMost))
    for (const version of bulk) unsettled.add(version)
    written()
    try {
      await writers.write(bulk.map(changeOf), random)
    } catch (error) {
      if (error instanceof NotSent) for (const version of bulk) unsettled.delete(version)
      else if (!(error instanceof OutcomeUnknown)) throw error
      pending.push(...bulk)
      return
    }
    for (const version of bulk) {
      unsettled.delete(version)
      if (version.version > (applied.get(version.id)?.version ?? 0))
        applied.set(version.id, version)
    }
    written()
    if (random.chance(0.2)) pending.push(...bulk) // The response was lost, so they are sent again.
  }

  /** Removes and returns up to `count` pending versions of different orders, in random order. */
  function pickPending(count: number): Version[] {
    const shuffled = pending.map((version) => ({ version, at: random.next() }))
    shuffled.sort((one, other) => one.at - other.at)
    const picked = new Map<string, Version>()
    for (const { version } of shuffled) {
      if (picked.size < count && !picked.has(version.id)) picked.set(version.id, version)
    }
    pending = pending.filter((version) => picked.get(version.id) !== version)
    return [...picked.values()]
  }

  function changeOnce(): void {
    const version = generator.change()
    if (version.version === 1) born.push(version.id)
    pending.push(version)
    generator.tick(random.pick([0, 0, 1, 2]))
  }

  async function settle(): Promise<void> {
    while (pending.length > 0) await write(pending.length)
  }

  return {
    /** The ids of all orders ever created, oldest first. */
    born,

    /**
     * Registers a listener that runs before and after every bulk, when the truth may have changed.
     */
    onWrite(listener: () => void) {
      written = listener
    },

    /** Changes orders and writes some of the changes; the clock has advanced afterwards. */
    async churn(changes: number): Promise<void> {
      generator.tick(1)
      for (let change = 0; change < changes; change++) {
        changeOnce()
        if (random.chance(0.8)) await write(5)
      }
    },

    /** Changes orders and writes all changes. */
    async populate(changes: number): Promise<void> {
      for (let change = 0; change < changes; change++) changeOnce()
      await settle()
    },

    /** Writes until no change is pending. */
    settle,

    /** The orders that the reader must see now, without those that may be deleted already. */
    truth({
      statuses,
      customerEmails,
    }: Pick<OrderFilters, 'statuses' | 'customerEmails'>): Map<string, Row> {
      const isListed = (version: Version): version is SourceOrder =>
        isVisible(version, reader) &&
        (statuses.length === 0 || statuses.includes(version.status)) &&
        (customerEmails.length === 0 ||
          customerEmails.includes(version.customer.email.toLowerCase()))
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
