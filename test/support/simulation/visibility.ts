import { deleteMissing, type Row } from './rows.ts'
import type { Simulation } from './simulation.ts'

const everything = { statuses: [] }

/** Orders that have to be listed, as long as they are there. */
export type Expected = ReadonlyMap<string, Row>

/** Tells what a listing has to show on a store that shows what is written at its next refresh. */
export interface VisibilityTracker {
  /** Refreshes: what was written before can be seen after. */
  refresh(): Promise<void>
  /** What can be seen now; an order that goes away meanwhile is dropped from it, even if it comes back. */
  expected(): Expected
  /** Nobody holds a listing against it any more. */
  release(expected: Expected): void
}

export function createVisibilityTracker(
  world: Simulation,
  refresh: () => Promise<void>,
): VisibilityTracker {
  let visible = new Map<string, Row>()
  const held = new Set([visible])
  world.onWrite(() => {
    const truth = world.truth(everything)
    for (const expected of held) deleteMissing(expected, truth)
  })

  return {
    async refresh() {
      const written = world.truth(everything)
      held.add(written)
      await refresh()
      held.delete(visible)
      visible = written
    },
    expected() {
      const expected = new Map(visible)
      held.add(expected)
      return expected
    },
    release(expected) {
      held.delete(expected as Map<string, Row>)
    },
  }
}
