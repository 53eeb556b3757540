/**
 * Counts what happens too often to tell each time: tells the first one at once, and what came after it every
 * `everyMs` until nothing comes any more.
 */
export function createThrottledLog<Name extends string>(
  log: (counts: Partial<Record<Name, number>>) => void,
  intervalMs: number,
): (name: Name) => void {
  let counts: Partial<Record<Name, number>> = {}
  let timer: NodeJS.Timeout | undefined

  function flush(): void {
    if (Object.keys(counts).length === 0) {
      timer = undefined
      return
    }
    log(counts)
    counts = {}
    timer = setTimeout(flush, intervalMs).unref()
  }

  return (name) => {
    counts[name] = (counts[name] ?? 0) + 1
    if (timer === undefined) flush()
  }
}
