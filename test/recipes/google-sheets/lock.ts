/** A stand-in for the script lock, which one run holds at a time. */
export function createLock(lock: Int32Array<SharedArrayBuffer>) {
  return {
    /** Waits for the lock until the timeout; returns whether it was acquired. */
    tryLock(timeoutMs: number): boolean {
      if (Atomics.compareExchange(lock, 0, 0, 1) === 0) return true
      Atomics.wait(lock, 0, 1, timeoutMs)
      return Atomics.compareExchange(lock, 0, 0, 1) === 0
    },

    releaseLock() {
      Atomics.store(lock, 0, 0)
      Atomics.notify(lock, 0)
    },
  }
}
