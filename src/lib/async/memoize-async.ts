/** Runs `work` once and shares its result. After a failure, the next call runs it again. */
export function memoizeAsync<T>(work: () => Promise<T>): () => Promise<T> {
  let pending: Promise<T> | undefined
  return () => {
    pending ??= work().catch((error) => {
      pending = undefined
      throw error
    })
    return pending
  }
}
