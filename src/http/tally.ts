/**
 * Counts what happens too often to tell each time: tells the first one at once, and what came after it every
 * `everyMs` until nothing comes any more.
 */
export function createTally<Name extends string>(
  tell: (counts: Partial<Record<Name, number>>) => void,
  everyMs: number,
): (name: Name) => void {
  let counts: Partial<Record<Name, number>> = {}
  let timer: NodeJS.Timeout | undefined

  function tellAndWait(): void {
    if (Object.keys(counts).length === 0) {
      timer = undefined
      return
    }
    tell(counts)
    counts = {}
    timer = setTimeout(tellAndWait, everyMs).unref()
  }

  return (name) => {
    counts[name] = (counts[name] ?? 0) + 1
    if (timer === undefined) tellAndWait()
  }
}
