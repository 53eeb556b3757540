/** Checks candidates again and returns those that are still inconsistent. */
export type Recheck = <T>(
  candidates: readonly T[],
  check: (candidates: readonly T[]) => Promise<readonly T[]>,
) => Promise<readonly T[]>

/** Longer than a writer needs from the documents of a bulk to its version records. */
const PAUSE_MS = 1_000
const MAX_RECHECKS = 3

/**
 * Writers may be active, so candidates are checked up to three more times, a second apart. When
 * that cleared none, as with an index that lacks half of the source, the next candidates are
 * checked only once more.
 */
export function createRecheck(pause: (ms: number) => Promise<unknown>): Recheck {
  let attempts = MAX_RECHECKS
  return async (candidates, check) => {
    let remaining = candidates
    for (let n = 0; n < attempts && remaining.length > 0; n++) {
      await pause(PAUSE_MS)
      remaining = await check(remaining)
    }
    if (candidates.length > 0) attempts = remaining.length < candidates.length ? MAX_RECHECKS : 1
    return remaining
  }
}
