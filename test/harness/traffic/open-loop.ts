const TICK_MS = 10

/**
 * An open loop: calls `send` so many times a second, whatever becomes of what was sent before, until the
 * returned function is called. What a stall held up is due at once.
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
