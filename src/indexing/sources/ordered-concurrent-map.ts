/** A value, and what came of the work on it. */
export interface MappedValue<T, R> {
  value: T
  result: R
}

/**
 * Works on values as they come, on several at a time, and tells what came of each in their order; the next
 * value is made meanwhile. No more than `atMost` and that one are held. It ends with the first failure of
 * the work, or with that of a value once all before it is told; never before what was begun has ended.
 */
export async function* orderedConcurrentMap<T, R>(
  values: AsyncGenerator<T>,
  work: (value: T) => Promise<R>,
  concurrency: number,
): AsyncGenerator<MappedValue<T, R>> {
  const inFlight: { value: T; resultPromise: Promise<R> }[] = []
  let next: Promise<IteratorResult<T>> | null = ignoreUnhandled(values.next())
  try {
    for (;;) {
      const [first] = inFlight
      const isRoom = inFlight.length < concurrency
      if (next !== null && isRoom && (await settlesFirst(next, first?.resultPromise))) {
        const item: IteratorResult<T> | null = await next.catch(() => null)
        if (item?.done === false) {
          inFlight.push({ value: item.value, resultPromise: ignoreUnhandled(work(item.value)) })
          next = ignoreUnhandled(values.next())
          continue
        }
        if (item?.done) next = null
      }
      if (first === undefined) {
        if (next === null) return
        await next // Its failure, now that all before it is told.
      } else {
        const result = await first.resultPromise
        inFlight.shift()
        yield { value: first.value, result }
      }
    }
  } finally {
    // Not waited for: what is being made may be long in coming, as a line that somebody types.
    values.return(undefined).catch(() => {})
    await Promise.allSettled(inFlight.map(({ resultPromise }) => resultPromise))
  }
}

/** Its failure is told when its turn comes. */
function ignoreUnhandled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

/** Whether the one settles before the other, if there is another. */
function settlesFirst(
  one: Promise<unknown>,
  other: Promise<unknown> | undefined,
): Promise<boolean> {
  if (other === undefined) return one.then(yes, yes)
  return Promise.race([one.then(yes, yes), other.then(no, no)])
}

const yes = () => true
const no = () => false
