import type { DispatcherLease } from '../webhook-stores.ts'
import type { DispatcherOptions } from './dispatcher-options.ts'
import { createOutage } from './outage.ts'
import { createSession, type SessionUsage } from './session.ts'

export interface Dispatcher {
  /**
   * Delivers until `signal` aborts: as the dispatcher, or as a standby until the dispatcher ends.
   * Then it finishes the requests in flight, within a bounded time. An unavailable store does not
   * end it. @throws Error for a failure that a retry cannot correct
   */
  run(signal: AbortSignal): Promise<void>
  /** `null` while another process delivers. */
  usage(): SessionUsage | null
}

/** Creates a dispatcher that does not run yet. The caller closes stores and senders. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { stores, events } = options
  let usage: (() => SessionUsage) | null = null

  async function acquire(signal: AbortSignal): Promise<DispatcherLease | null> {
    const onFatal = (error: unknown) => {
      throw error
    }
    const source = createOutage({ events, onFatal, signal }).createSource()
    while (!signal.aborted) {
      const onDelay = (reason: string) => {
        source.succeed()
        events.onStandby(reason)
      }
      try {
        const lease = await stores.acquireLease({ onDelay, signal })
        source.succeed()
        return lease
      } catch (error) {
        if (signal.aborted) return null
        await source.fail(error)
      }
    }
    return null
  }

  async function deliver(lease: DispatcherLease, signal: AbortSignal): Promise<void> {
    const session = createSession(options, lease, signal)
    usage = session.usage
    events.onDispatcher(true)
    try {
      await session.run()
      if (!lease.isHeld() && !signal.aborted) events.onLeaseLost()
    } finally {
      usage = null
      events.onDispatcher(false)
      // Unavailable: the lease then expires.
      await lease.release().catch(() => {})
    }
  }

  return {
    async run(signal) {
      while (!signal.aborted) {
        const lease = await acquire(signal)
        if (lease !== null) await deliver(lease, signal)
      }
    },
    usage: () => usage?.() ?? null,
  }
}
