import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../../../src/demo/random.ts'
import type { Change } from '../../../src/indexing/projection/change.ts'
import type { OrderIndex } from '../../../src/indexing/writer/order-index.ts'
import { createWriter } from '../../../src/indexing/writer/writer.ts'
import { LeaseLostError } from '../../../src/indexing/writer/writer-errors.ts'
import { createMutex } from '../../../src/lib/async/mutex.ts'
import { type Clock, wallClock } from '../../../src/lib/clock.ts'
import { Unavailable } from '../../../src/lib/errors/unavailable.ts'
import { type FaultyProxy, startFaultyProxy } from '../../harness/faulty-proxy/faulty-proxy.ts'
import { interceptCommits } from '../stores/bulk.ts'
import { type AlternatingWriters, OutcomeUnknown } from './alternating-writers.ts'

/** The number of injected failures by kind. */
export type FailureCounts = Record<
  'opened' | 'handed over' | 'killed' | 'cut' | 'frozen' | 'full disk' | 'resumed and rejected',
  number
>

export interface FailingWriters extends AlternatingWriters {
  failures: FailureCounts
}

export interface FailingWritersOptions {
  /** The ports of the cluster's nodes. */
  ports: readonly number[]
  /** Of every writer; a frozen one is resumed before or after its lease expires. */
  leaseMs: number
  /** The write side of a process that connects through this port, with a separate clock. */
  open(port: number, clock: Clock): Promise<OrderIndex>
  /** Makes OpenSearch reject every write for a while, as a full disk does. */
  fillDisk(forMs: number): Promise<void>
}

/** A writer process, as far as the index can distinguish one from another. */
interface WriterProcess {
  index: OrderIndex
  clock: Clock
  network: FaultyProxy
}

const BEHIND_MS = 60_000
/** Further ahead of the store, the writer rejects every write. */
const AHEAD_MS = 4_000
const RETRY_MS = 30

/**
 * Writers that are killed, frozen during a bulk and resumed later, disconnected before the
 * response, handed over and rejected. Each has a different clock, and each successor takes over the
 * lease as any writer does.
 */
export function createFailingWriters(options: FailingWritersOptions): FailingWriters {
  const { ports, leaseMs, open, fillDisk } = options
  const oneAtATime = createMutex()
  const asleep: Promise<void>[] = []
  const networks: FaultyProxy[] = []
  let current: WriterProcess | undefined
  const failures: FailureCounts = {
    opened: 0,
    'handed over': 0,
    killed: 0,
    cut: 0,
    frozen: 0,
    'full disk': 0,
    'resumed and rejected': 0,
  }

  async function start(random: Random): Promise<WriterProcess> {
    const network = await startFaultyProxy(random.pick(ports))
    networks.push(network)
    const skewMs = random.between(-BEHIND_MS, AHEAD_MS)
    const clock = () => wallClock() + skewMs
    for (;;) {
      try {
        const index = await open(network.port, clock)
        failures.opened++
        return { index, clock, network }
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error
        await pause(RETRY_MS)
      }
    }
  }

  /**
   * Writes a bulk; `atSending` runs once it is first decided, whether or not its response is on the
   * way. No bulk is confirmed while every attempt loses its response.
   */
  function bulk(
    { index, clock }: WriterProcess,
    changes: readonly Change[],
    atSending: () => void,
  ) {
    let isFirst = true
    const interrupted = interceptCommits(index, (writes) => {
      if (isFirst) atSending()
      isFirst = false
      return writes
    })
    return createWriter(interrupted, clock).write(changes, 'live')
  }

  async function freeze(writer: WriterProcess, changes: readonly Change[], random: Random) {
    const written = bulk(writer, changes, () => writer.network.freeze())
    const woken = pause(random.between(0.6 * leaseMs, 4 * leaseMs)).then(async () => {
      writer.network.unfreeze()
      await written.catch(countRejection)
      await writer.index.close()
    })
    asleep.push(woken)
    await pause(random.between(0, 20))
    throw new OutcomeUnknown('frozen')
  }

  function countRejection(error: unknown): void {
    if (!(error instanceof LeaseLostError)) throw error
    failures['resumed and rejected']++
  }

  async function write(changes: readonly Change[], random: Random): Promise<void> {
    current ??= await start(random)
    const writer = current
    const chance = random.next()
    if (chance < 0.006) {
      failures.frozen++
      current = undefined
      await freeze(writer, changes, random)
    } else if (chance < 0.012) {
      failures.killed++
      current = undefined
      bulk(writer, changes, () =>
        setTimeout(() => writer.network.freeze(), random.between(0, 8)),
      ).catch(() => {}) // The outcome does not matter.
      await pause(random.between(0, 20))
      throw new OutcomeUnknown('killed')
    } else if (chance < 0.03) {
      failures.cut++
      await bulk(writer, changes, () =>
        setTimeout(writer.network.resetConnections, random.between(0, 8)),
      )
    } else {
      if (chance < 0.04) {
        failures['full disk']++
        await fillDisk(random.between(50, 300))
      } else if (chance < 0.06) {
        failures['handed over']++
        await writer.index.close()
        current = await start(random)
      }
      await bulk(current ?? writer, changes, () => {})
    }
  }

  return {
    failures,
    write: (changes, random) =>
      oneAtATime(() =>
        write(changes, random).catch((error) => {
          if (!(error instanceof LeaseLostError)) throw error
          current = undefined // On a busy machine, a lease this short expires by itself.
          throw new OutcomeUnknown('lost')
        }),
      ),
    async close() {
      await Promise.all(asleep)
      await current?.index.close()
      await Promise.all(networks.map((network) => network.close()))
    },
  }
}
