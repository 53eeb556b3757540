/**
 * Yields the values of an iterable, and requests each next value while the consumer works on the
 * current one. An error is thrown once the values before it have been consumed. A consumer that
 * stops early, or throws, waits for the requested value. So the iterable is closed when its loop
 * ends.
 */
export async function* readAhead<T>(values: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = values[Symbol.asyncIterator]()
  let next = iterator.next()
  try {
    for (;;) {
      const { value, done } = await next
      if (done) return
      next = iterator.next()
      // The next iteration throws it. Until then the rejection counts as handled.
      next.catch(() => {})
      yield value
    }
  } finally {
    await next.catch(() => {})
    await iterator.return?.()
  }
}
