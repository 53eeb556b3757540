/** Looks again at what looked wrong, and hands back what still does. */
export type LookAgain = <T>(
  suspects: readonly T[],
  look: (suspects: readonly T[]) => Promise<readonly T[]>,
) => Promise<readonly T[]>

/** As long as a bulk takes to be written, and its heads after its documents. */
const PAUSE_MS = 1_000
const LOOKS = 3

/**
 * Writers may be at work: what looks wrong is looked at three times more, a second apart. Where that cleared
 * nothing, as with an index that lacks half of the file, what comes next is looked at once more only.
 */
export function createLookAgain(pause: (ms: number) => Promise<unknown>): LookAgain {
  let looks = LOOKS
  return async (suspects, look) => {
    let left = suspects
    for (let n = 0; n < looks && left.length > 0; n++) {
      await pause(PAUSE_MS)
      left = await look(left)
    }
    if (suspects.length > 0) looks = left.length < suspects.length ? LOOKS : 1
    return left
  }
}
