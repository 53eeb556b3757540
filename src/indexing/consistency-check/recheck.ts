/** Looks again at what looked wrong, and hands back what still does. */
export type Recheck = <T>(
  candidates: readonly T[],
  check: (candidates: readonly T[]) => Promise<readonly T[]>,
) => Promise<readonly T[]>

/** As long as a bulk takes to be written, and its heads after its documents. */
const PAUSE_MS = 1_000
const MAX_RECHECKS = 3

/**
 * Writers may be at work: what looks wrong is looked at three times more, a second apart. Where that cleared
 * nothing, as with an index that lacks half of the file, what comes next is looked at once more only.
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
