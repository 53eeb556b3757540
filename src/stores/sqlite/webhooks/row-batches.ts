import { setTimeout } from 'node:timers/promises'

/** The number of rows of a transaction: a few milliseconds of the event loop and the write lock. */
export const BATCH = 500
/** Between transactions, so that other requests run and other processes get the lock. */
const PAUSE_MS = 5

/** Repeats a transaction while it finds a full batch of rows. Returns the number of all rows. */
export async function repeatUntilDone(change: () => number): Promise<number> {
  for (let total = 0; ; await setTimeout(PAUSE_MS)) {
    const changed = change()
    total += changed
    if (changed < BATCH) return total
  }
}

/** The assignments that make a delivery pending, with a new retry schedule. `nextAt`: SQL. */
export const toPending = (nextAt: string) => `
  state = 'pending', next_at = ${nextAt}, step = 0, first_failed_at = NULL, held_at = NULL`
