import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startServer } from '../../../../test/harness/processes/service.ts'
import type { Arrival, GroupCounts } from './arrivals.ts'

/** What the receiver does with the requests of a group of endpoints. */
export interface GroupBehaviour {
  /** `hang` never responds, `refuse` responds 503. */
  mode: 'accept' | 'hang' | 'refuse'
  /** Before it responds, in milliseconds. */
  delayMs?: number
}

export type ReceiverProcess = Awaited<ReturnType<typeof startReceiver>>

/** The program of a file of this folder. */
export const programFile = (name: string) => fileURLToPath(new URL(name, import.meta.url))

const CHECK_MS = 50

/**
 * Starts a receiver for all endpoints. Its groups accept until they are given another behaviour.
 */
export async function startReceiver(scope: AsyncDisposableStack) {
  const server = scope.use(await startServer({ program: programFile('receiver.ts'), args: [] }))

  async function ask(action: string, group = '', behaviour?: GroupBehaviour): Promise<string> {
    const init = behaviour && { method: 'POST', body: JSON.stringify(behaviour) }
    const response = await fetch(`${server.origin}/_/${action}/${group}`, init)
    const text = await response.text()
    if (!response.ok) throw new Error(`the receiver rejected ${action}: ${response.status} ${text}`)
    return text
  }
  const counts = async (group: string): Promise<GroupCounts> =>
    JSON.parse(await ask('counts', group))

  return {
    origin: server.origin,
    /** The URL of an endpoint. */
    urlOf: (group: string, name: string | number) => `${server.origin}/${group}/${name}`,
    behave: (group: string, behaviour: GroupBehaviour) => ask('behave', group, behaviour),
    /** Forgets what a group received, and all bodies. */
    reset: (group: string) => ask('reset', group),
    counts,
    arrivals: async (group: string): Promise<Arrival[]> => JSON.parse(await ask('arrivals', group)),
    /** The first bodies since the last reset. */
    bodies: async (): Promise<string[]> => JSON.parse(await ask('bodies')),

    /** Waits until a group received so many, or nothing more for `stalledMs`. */
    async received(
      group: string,
      count: number,
      { signal, stalledMs }: { signal: AbortSignal; stalledMs: number },
    ): Promise<GroupCounts> {
      let latest = await counts(group)
      for (let grownAt = performance.now(); latest.arrivals < count; ) {
        await sleep(CHECK_MS, undefined, { signal })
        const now = await counts(group)
        if (now.arrivals > latest.arrivals) grownAt = performance.now()
        else if (performance.now() - grownAt > stalledMs) return now
        latest = now
      }
      return latest
    },
  }
}
