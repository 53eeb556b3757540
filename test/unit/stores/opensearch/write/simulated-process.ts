import type { MemoryProcess } from './memory-client.ts'

/** A process that can crash, or that another writer replaces. */
export type SimulatedProcess = MemoryProcess & {
  crashed: Promise<void>
  /** Another writer starts. */
  replaced: Promise<void>
  replace(): void
}

export function createProcess(): SimulatedProcess {
  const { promise: crashed, resolve } = Promise.withResolvers<void>()
  let isDead = false
  const crash = () => {
    isDead = true
    resolve()
  }
  const { promise: replaced, resolve: replace } = Promise.withResolvers<void>()
  return { isDead: () => isDead, crash, crashed, replaced, replace }
}
