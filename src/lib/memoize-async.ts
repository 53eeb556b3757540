/** Work that is done once however often it is asked for; a failure is told, and tried again when asked. */
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
