import type { Random } from '../../../../../src/demo/random.ts'
import type { Change } from '../../../../../src/indexing/projection/change.ts'
import type { EqualVersionPolicy } from '../../../../../src/indexing/writer/decide.ts'
import type { WriteMode } from '../../../../../src/indexing/writer/order-index.ts'
import type { Clock } from '../../../../../src/lib/clock.ts'
import type { Trace } from '../checks/trace.ts'
import { Crash, type CrashingWriters, type WriteOptions } from './crashing-writers.ts'
import type { SourceHistory } from './source-history.ts'

/** A source that delivers its changes until a writer acknowledges them. */
export interface Recording {
  /** The platform changes an order. */
  change(): void
  /** A writer writes some changes: of any age, and also acknowledged ones again. */
  write(): Promise<void>
  /** Another writer takes over. */
  replaceWriter(): Promise<void>
  /** Writes until every change is acknowledged. Nothing dies any more. */
  settle(): Promise<void>
  /** The number of writes so far. */
  writeCount(): number
  /** Whether a load of history wrote an order after the first of these writes. */
  hasSilentWrites(orderId: string, after: number, until: number): boolean
}

export interface RecordingOptions {
  random: Random
  clock: Clock
  history: SourceHistory
  writers: CrashingWriters
  trace: Trace
  crashChance: number
  /** Whether loads of history and reprojections write too. */
  hasSilentWrites: boolean
  /** Runs after each write, also one that died. */
  onWritten(): Promise<void>
}

const MAX_BULK = 4

/** Creates a source without changes. */
export function createRecording(options: RecordingOptions): Recording {
  const { random, clock, history, writers, trace, crashChance, onWritten } = options
  /** The orders of each write that was silent. */
  const silentOrders = new Map<number, readonly string[]>()
  let writeCount = 0
  let pending: Change[] = []

  /** A repair is of the platform's current orders; an older version would revert announced ones. */
  const isCurrent = ({ orderId, version }: Change) => version === history.latest(orderId).version

  function pickPolicy(bulk: readonly Change[]): EqualVersionPolicy {
    if (random.chance(0.8)) return 'drop'
    if (options.hasSilentWrites && random.chance(0.5)) return 'reproject'
    return bulk.every(isCurrent) ? 'repair' : 'drop'
  }

  function pickMode(): WriteMode {
    return options.hasSilentWrites && random.chance(0.3) ? 'history' : 'live'
  }

  async function write(bulk: readonly Change[], attempt: WriteOptions): Promise<void> {
    const { mode, policy } = attempt
    const names = bulk.map(({ orderId, version }) => `${orderId} v${version}`).join(', ')
    const ids = bulk.map(({ orderId }) => orderId)
    trace.note(ids, `write ${names} (${mode}, ${policy})`)
    writeCount += 1
    if (mode === 'history') silentOrders.set(writeCount, ids)
    try {
      const results = await writers.write(bulk, attempt)
      trace.note(ids, `acknowledged: ${results.join(', ')}`)
      const rejected = results.find((result) => typeof result === 'object')
      if (rejected) throw new Error(`rejected: ${rejected.path} ${rejected.reason}`)
    } catch (error) {
      if (!(error instanceof Crash)) throw error
      return
    } finally {
      await onWritten()
    }
    const isRepeated = random.chance(0.15) // The acknowledgement was lost.
    if (!isRepeated) pending = pending.filter((change) => !bulk.includes(change))
  }

  /** Some pending changes of different orders; at random the oldest, or any. */
  function pick(limit: number): Change[] {
    const picked = new Map<string, Change>()
    const candidates = random.chance(0.7) ? pending : shuffled(pending, random)
    for (const change of candidates) {
      if (picked.size < limit && !picked.has(change.orderId)) picked.set(change.orderId, change)
    }
    return [...picked.values()]
  }

  return {
    change() {
      const change = history.next(clock())
      pending.push(change)
      const { orderId, version, deleted, views } = change
      const { status, payment_status } = history.state(orderId, version) ?? {}
      const seenBy = views.map(({ accountId }) => accountId).join(', ')
      const state = deleted ? 'deleted' : `${status}/${payment_status}`
      trace.note([orderId], `the platform makes v${version}: ${state}, seen by [${seenBy}]`)
    },
    async write() {
      const bulk = pick(random.between(1, MAX_BULK))
      if (bulk.length > 0)
        await write(bulk, { mode: pickMode(), policy: pickPolicy(bulk), crashChance })
    },
    async replaceWriter() {
      trace.note([], 'another writer takes over')
      await writers.replace()
    },
    async settle() {
      trace.note([], 'everything settles')
      while (pending.length > 0) {
        await write(pick(MAX_BULK), { mode: 'live', policy: 'drop', crashChance: 0 })
      }
    },
    writeCount: () => writeCount,
    hasSilentWrites: (orderId, after, until) =>
      [...silentOrders].some(
        ([write, ids]) => write > after && write <= until && ids.includes(orderId),
      ),
  }
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const keyed = items.map((item) => ({ item, key: random.next() }))
  return keyed.sort((one, other) => one.key - other.key).map(({ item }) => item)
}
