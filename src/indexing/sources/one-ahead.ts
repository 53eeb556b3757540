/** The same values, the next one being made while one is worked on; no more than that one is held. */
export async function* oneAhead<T>(values: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = values.next()
  try {
    for (;;) {
      const { value, done } = await next
      if (done) return
      next = values.next()
      next.catch(() => {}) // Told when its turn comes.
      yield value
    }
  } finally {
    // Not waited for: what is being made may be long in coming, as a line that somebody types.
    values.return(undefined).catch(() => {})
  }
}
