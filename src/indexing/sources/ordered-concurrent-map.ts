/** A value and the result of its work. */
export interface MappedValue<T, R> {
  value: T
  result: R
}

/**
 * Maps values concurrently and yields the results in their order, while the next value is
 * generated. Holds at most `concurrency` values and that one.
 * @throws the first failure of the work, or that of the generator after all earlier results;
 *   running work always settles first
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
        await next // Throws its failure, after all earlier results.
      } else {
        const result = await first.resultPromise
        inFlight.shift()
        yield { value: first.value, result }
      }
    }
  } finally {
    // Not awaited: the generator may block for long, as on a terminal.
    values.return(undefined).catch(() => {})
    await Promise.allSettled(inFlight.map(({ resultPromise }) => resultPromise))
  }
}

/** The consumer receives the failure later, in its order. */
function ignoreUnhandled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

/** Whether the first promise settles before the second, if there is a second. */
function settlesFirst(
  one: Promise<unknown>,
  other: Promise<unknown> | undefined,
): Promise<boolean> {
  if (other === undefined) return one.then(yes, yes)
  return Promise.race([one.then(yes, yes), other.then(no, no)])
}

const yes = () => true
const no = () => false
