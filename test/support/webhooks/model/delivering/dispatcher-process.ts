import { setTimeout as pause } from 'node:timers/promises'
import { Unavailable } from '../../../../../src/lib/errors/unavailable.ts'
import { createDispatcher } from '../../../../../src/webhooks/dispatcher/dispatcher.ts'
import type { DispatcherEvents } from '../../../../../src/webhooks/dispatcher/dispatcher-events.ts'
import type { DispatcherOptions } from '../../../../../src/webhooks/dispatcher/dispatcher-options.ts'
import {
  type DispatcherSettings,
  defaultSettings,
} from '../../../../../src/webhooks/dispatcher/dispatcher-settings.ts'
import type { DispatcherLease } from '../../../../../src/webhooks/webhook-stores.ts'
import { onServices } from '../../../stores/backend.ts'
import type { SlowCalls } from './slow-calls.ts'

/** A dispatcher that runs, and can die. */
export interface DispatcherProcess {
  id: number
  /** From now on, it stores nothing; its requests in flight stay in flight. */
  die(): void
  isDead(): boolean
  /** Ends it, at once when it is dead. Another one may start then. */
  end(): Promise<void>
}

/** Pauses of a dispatcher whose clock is simulated are short, because the walk waits for them. */
const SETTINGS: DispatcherSettings = {
  ...defaultSettings,
  pollMs: onServices ? 25 : 1,
  tickMs: 1,
  healthMs: 1,
  stopMs: 1_000,
}

const events: DispatcherEvents = {
  onOutage() {},
  onRecovered() {},
  onStandby() {},
  onDispatcher() {},
  onLeaseLost() {},
  onAttempt() {},
  onBreaker() {},
  onNotice() {},
  onNoticeFailed() {},
}

/** What a walk gives its dispatchers. */
export type ProcessOptions = Omit<DispatcherOptions, 'events' | 'settings' | 'version'> & {
  limits: DispatcherSettings['limits']
  slowCalls: Pick<SlowCalls, 'run'>
}

/** Starts a dispatcher. Its walk ends it. */
export function startDispatcher(id: number, options: ProcessOptions): DispatcherProcess {
  const { stores, orders, limits, slowCalls } = options
  const stopped = new AbortController()
  let isDead = false
  let lease: DispatcherLease | null = null

  function assertAlive(): void {
    if (isDead) throw new Unavailable('this dispatcher died')
  }

  /** Each call of a dead process fails. */
  function mortal<Store extends object>(store: Store): Store {
    return new Proxy(store, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        return async (...args: unknown[]) => {
          assertAlive()
          return slowCalls.run(String(name), async () => {
            assertAlive()
            return Reflect.apply(member, target, args)
          })
        }
      },
    })
  }

  const { acquireLease } = stores
  const feed = mortal(stores.events)
  const dispatcher = createDispatcher({
    ...options,
    stores: {
      endpoints: mortal(stores.endpoints),
      deliveries: mortal(stores.deliveries),
      events: {
        ...feed,
        async next(limit) {
          const page = await feed.next(limit)
          return page && { ...page, fanOut: mortal(page).fanOut }
        },
      },
      async acquireLease(how) {
        const acquired = await acquireLease(how)
        lease = acquired
        return {
          isHeld: () => !isDead && acquired.isHeld(),
          release: async () => {
            if (!isDead) await acquired.release()
          },
        }
      },
    },
    orders: mortal(orders),
    events,
    settings: { ...SETTINGS, limits },
    version: '0.0.0',
  })
  const running = dispatcher.run(stopped.signal)

  return {
    id,
    die() {
      isDead = true
    },
    isDead: () => isDead,
    async end() {
      stopped.abort()
      await running
      // The operating system ends the lease of a dead process.
      if (isDead) await lease?.release()
    },
  }
}

/** A dispatcher reads the feed at least this often without a record before it counts as idle. */
const IDLE_POLLS = 4
const IDLE_MS = onServices ? 50 : 10

/** Waits until a dispatcher does nothing more at this instant of the simulated clock. */
export async function untilIdle(
  activity: () => { count: number; inProgress: number; idlePolls: number },
  isEnded: () => boolean,
): Promise<void> {
  for (;;) {
    const { count } = activity()
    await pause(IDLE_MS)
    const now = activity()
    if (isEnded()) return
    if (now.count === count && now.inProgress === 0 && now.idlePolls >= IDLE_POLLS) return
  }
}
