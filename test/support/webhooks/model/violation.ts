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
