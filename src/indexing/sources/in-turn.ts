/** A value, and what came of the work on it. */
export interface Worked<T, R> {
  value: T
  result: R
}

/**
 * Works on values as they come, on several at a time, and tells what came of each in their order; the next
 * value is made meanwhile. No more than `atMost` and that one are held. It ends with the first failure of
 * the work, or with that of a value once all before it is told; never before what was begun has ended.
 */
export async function* inTurn<T, R>(
  values: AsyncGenerator<T>,
  work: (value: T) => Promise<R>,
  atMost: number,
): AsyncGenerator<Worked<T, R>> {
  const begun: { value: T; working: Promise<R> }[] = []
  let next: Promise<IteratorResult<T>> | null = handled(values.next())
  try {
    for (;;) {
      const [first] = begun
      const isRoom = begun.length < atMost
      if (next !== null && isRoom && (await isSooner(next, first?.working))) {
        const came: IteratorResult<T> | null = await next.catch(() => null)
        if (came?.done === false) {
          begun.push({ value: came.value, working: handled(work(came.value)) })
          next = handled(values.next())
          continue
        }
        if (came?.done) next = null
      }
      if (first === undefined) {
        if (next === null) return
        await next // Its failure, now that all before it is told.
      } else {
        const result = await first.working
        begun.shift()
        yield { value: first.value, result }
      }
    }
  } finally {
    // Not waited for: what is being made may be long in coming, as a line that somebody types.
    values.return(undefined).catch(() => {})
    await Promise.allSettled(begun.map(({ working }) => working))
  }
}

/** Its failure is told when its turn comes. */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

/** Whether the one settles before the other, if there is another. */
function isSooner(one: Promise<unknown>, other: Promise<unknown> | undefined): Promise<boolean> {
  if (other === undefined) return one.then(yes, yes)
  return Promise.race([one.then(yes, yes), other.then(no, no)])
}

const yes = () => true
const no = () => false
