const TICK_MS = 10

/**
 * An open loop: calls `send` at a fixed rate, independent of earlier outcomes, until the returned
 * function is called. After a stall, overdue calls follow at once.
 */
export function startOpenLoop(rate: number, send: () => void): () => void {
  const startedAt = performance.now()
  let sent = 0
  const timer = setInterval(() => {
    const due = Math.floor((rate * (performance.now() - startedAt)) / 1000)
    for (; sent < due; sent++) send()
  }, TICK_MS)
  return () => clearInterval(timer)
}
