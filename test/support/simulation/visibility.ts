import { noFilters } from '../../../src/orders/filters/filters.ts'
import { deleteMissing, type Row } from './rows.ts'
import type { Simulation } from './simulation.ts'

/** Orders that a listing must contain, as long as they exist. */
export type Expected = ReadonlyMap<string, Row>

/** Computes what a listing must contain on a store that shows writes at its next refresh. */
export interface VisibilityTracker {
  /** Refreshes the store: earlier writes are visible afterwards. */
  refresh(): Promise<void>
  /**
   * The orders visible now. An order that is deleted later is removed from it, even if it
   * reappears.
   */
  expected(): Expected
  /** No listing is checked against it any more. */
  release(expected: Expected): void
}

export function createVisibilityTracker(
  simulation: Simulation,
  refresh: () => Promise<void>,
): VisibilityTracker {
  let visible = new Map<string, Row>()
  const visibleStates = new Set([visible])
  simulation.onWrite(() => {
    const truth = simulation.truth(noFilters)
    for (const expected of visibleStates) deleteMissing(expected, truth)
  })

  return {
    async refresh() {
      const written = simulation.truth(noFilters)
      visibleStates.add(written)
      await refresh()
      visibleStates.delete(visible)
      visible = written
    },
    expected() {
      const expected = new Map(visible)
      visibleStates.add(expected)
      return expected
    },
    release(expected) {
      visibleStates.delete(expected as Map<string, Row>)
    },
  }
}
