import type { Random } from '../../../src/demo/random.ts'
import type { Change } from '../../../src/indexing/projection/change.ts'
import type { OrderIndex } from '../../../src/indexing/writer/order-index.ts'
import { createWriter } from '../../../src/indexing/writer/writer.ts'
import type { Stores } from '../../../src/stores/stores.ts'
import { interceptCommits } from '../stores/bulk.ts'

/** The start time of the clocks of this model. */
export const START_MS = Date.parse('2026-03-01T12:00:00Z')

/** A writer died before it sent a bulk, so nothing of it was written. */
export class NotSent extends Error {}

/** It is unknown whether a bulk was written, or will be. */
export class OutcomeUnknown extends Error {}

/** Writers that alternate; one is active at a time. */
export interface AlternatingWriters {
  /** Writes a bulk, or dies before sending it; at random, the other writer takes over first. */
  write(changes: readonly Change[], random: Random): Promise<void>
  close(): Promise<void>
}

interface WriterClock {
  nowMs: number
}

/**
 * Two processes with clocks that are set back at random, each independently. They never step
 * forward, because a step ahead of the store is rejected. `handover`: the share of bulks before
 * which the other process takes over.
 */
export function createAlternatingWriters(
  openIndex: Stores['openIndex'],
  handover: number,
): AlternatingWriters {
  const clocks: [WriterClock, WriterClock] = [{ nowMs: START_MS }, { nowMs: START_MS }]
  let turn: 0 | 1 = 0
  let index: OrderIndex | undefined
  /**
   * Before its first write, the embedded store accepts any clock, and the other process would then
   * be a step ahead of it.
   */
  let hasWritten = false

  return {
    async write(changes, random) {
      if (index !== undefined && random.chance(handover)) {
        await index.close()
        index = undefined
        turn = turn === 0 ? 1 : 0
      }
      const clock = clocks[turn]
      const stepMs = random.pick([0, 1, 5, 1_000, -30_000])
      if (hasWritten) clock.nowMs += stepMs
      index ??= await openIndex({ clock: () => clock.nowMs })
      await createWriter(crashingIndex(index, random), () => clock.nowMs).write(changes, 'live')
      hasWritten = true
    },
    async close() {
      await index?.close()
    },
  }
}

function crashingIndex(index: OrderIndex, random: Random): Pick<OrderIndex, 'lock'> {
  return interceptCommits(index, (writes) => {
    if (random.chance(0.1)) throw new NotSent()
    return writes
  })
}
