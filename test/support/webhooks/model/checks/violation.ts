import type { Trace } from './trace.ts'

/** The number of an invariant: see the list in `model.md`. */
export type Invariant = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11

/** A broken invariant. */
export interface Violation {
  invariant: Invariant
  orderId: string
  message: string
}

/** Collects violations of a walk. */
export interface Violations {
  add(invariant: Invariant, orderId: string, message: string): void
  all(): readonly Violation[]
}

/** Creates an empty collection. */
export function createViolations(): Violations {
  const found: Violation[] = []
  return {
    add: (invariant, orderId, message) => found.push({ invariant, orderId, message }),
    all: () => found,
  }
}

const MAX_REPORTED = 3

/** The first violations, each with the seed and the history of its order. */
export function reportViolations(
  seed: number,
  violations: readonly Violation[],
  trace: Trace,
): string {
  return violations
    .slice(0, MAX_REPORTED)
    .map(
      ({ invariant, orderId, message }) =>
        `seed ${seed}, invariant ${invariant}, ${orderId}: ${message}\n${trace.of(orderId)}`,
    )
    .join('\n')
}
