import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../../../../../src/demo/random.ts'
import type { Change } from '../../../../../src/indexing/projection/change.ts'
import type { EqualVersionPolicy, WriteResult } from '../../../../../src/indexing/writer/decide.ts'
import {
  type BulkWrites,
  mapTransactions,
  type OrderIndex,
  type WriteMode,
} from '../../../../../src/indexing/writer/order-index.ts'
import { createWriter } from '../../../../../src/indexing/writer/writer.ts'
import { LeaseLostError } from '../../../../../src/indexing/writer/writer-errors.ts'
import type { Clock } from '../../../../../src/lib/clock.ts'
import type { FreezableIndex } from './freezable-writer.ts'

/** A writer died; it is unknown how much of its bulk was written. */
export class Crash extends Error {}

export interface WriteOptions {
  mode: WriteMode
  policy: EqualVersionPolicy
  /** The share of commits at which the writer dies. */
  crashChance: number
}

/** Writers that die at any point of a bulk, each replaced by the next. */
export interface CrashingWriters {
  /** Writes a bulk of changes, each of another order. @throws Crash */
  write(changes: readonly Change[], options: WriteOptions): Promise<readonly WriteResult[]>
  /** Ends the current writer, as at a graceful stop. */
  replace(): Promise<void>
  /** Also ends those that are frozen; they continue first. */
  end(): Promise<void>
}

/** What a faulty writer makes of the index while it writes these changes. */
export type MutateIndex = (index: OrderIndex, changes: readonly Change[]) => OrderIndex

export interface CrashingWritersOptions {
  open(): Promise<OrderIndex | FreezableIndex>
  /** Of the writers, epoch milliseconds. */
  clock: Clock
  random: Random
  /** Whether a bulk is written as a whole or not at all. */
  isAtomic: boolean
  mutate?: MutateIndex
  onCrash(orderIds: readonly string[], written: string): void
}

/** Creates a sequence of writers, without one at first. */
export function createCrashingWriters({
  open,
  clock,
  random,
  isAtomic,
  mutate = (index) => index,
  onCrash,
}: CrashingWritersOptions): CrashingWriters {
  let index: OrderIndex | FreezableIndex | undefined
  let frozen: FreezableIndex[] = []

  async function replace(): Promise<void> {
    const replaced = index
    index = undefined
    await replaced?.close()
  }

  /** Writes a part of some bulks, and throws. */
  function crashing(
    inner: OrderIndex | FreezableIndex,
    changes: readonly Change[],
    chance: number,
  ): OrderIndex {
    return mapTransactions(inner, (transaction) => ({
      ...transaction,
      async commit(writes, mode) {
        if (!random.chance(chance)) return transaction.commit(writes, mode)
        const ids = changes.map(({ orderId }) => orderId)
        if ('freeze' in inner && random.chance(0.3)) {
          onCrash(ids, 'what it sent before it froze')
          await freezeDuring(inner, transaction.commit(writes, mode))
        }
        const part = isAtomic ? random.pick([writes, null]) : partOf(writes, random)
        if (part !== null) await transaction.commit(part, mode)
        onCrash(ids, describeWrites(part))
        throw new Crash('the writer died')
      },
    }))
  }

  /** Freezes a writer while it sends a bulk. @throws Crash */
  async function freezeDuring(
    frozenIndex: FreezableIndex,
    sending: Promise<boolean>,
  ): Promise<void> {
    sending.catch(() => {}) // Its successor has taken over.
    await pause(random.between(0, 15))
    frozenIndex.freeze()
    frozen.push(frozenIndex)
    index = undefined
    throw new Crash('the writer froze')
  }

  async function thaw(): Promise<void> {
    const thawing = frozen
    frozen = []
    await Promise.all(thawing.map((each) => each.thaw()))
  }

  return {
    replace,
    async end() {
      await thaw()
      await replace()
    },
    async write(changes, { mode, policy, crashChance }) {
      index ??= await open()
      if (random.chance(0.2)) await thaw()
      const writer = createWriter(mutate(crashing(index, changes, crashChance), changes), clock, {
        equalVersions: policy,
      })
      try {
        return await writer.write(changes, mode)
      } catch (error) {
        // On a busy machine, a short lease expires by itself.
        const hasDied = error instanceof Crash || error instanceof LeaseLostError
        if (hasDied) await replace().catch(ignoreLostLease)
        throw hasDied ? new Crash('the writer died', { cause: error }) : error
      }
    },
  }
}

function ignoreLostLease(error: unknown): void {
  if (!(error instanceof LeaseLostError)) throw error
}

/**
 * What a crash leaves of a bulk: documents, event records and version records are written one after
 * the other, and of the last kind any part. Pure but for `random`.
 */
function partOf(writes: BulkWrites, random: Random): BulkWrites {
  const { views, removals, eventRecords, versionRecords } = writes
  const some = <T>(items: readonly T[]) => {
    const share = random.pick([0, 0.5, 1])
    return items.filter(() => random.chance(share))
  }
  const none = { views: [], removals: [], eventRecords: [], versionRecords: [] }
  const parts: BulkWrites[] = [
    { ...none, views: some(views), removals: some(removals) },
    { ...none, views, removals, eventRecords: some(eventRecords) },
    { ...writes, versionRecords: some(versionRecords) },
  ]
  return random.pick(parts)
}

function describeWrites(writes: BulkWrites | null): string {
  if (writes === null) return 'nothing'
  const { views, removals, eventRecords, versionRecords } = writes
  const versions = (records: readonly { orderId: string; version: number }[]) =>
    records.map(({ orderId, version }) => `${orderId} v${version}`).join(', ')
  return [
    `views [${views.map(({ accountId, orderId }) => `${accountId}:${orderId}`).join(', ')}]`,
    `removals [${removals.map(({ accountId, orderId }) => `${accountId}:${orderId}`).join(', ')}]`,
    `event records [${versions(eventRecords)}]`,
    `version records [${versions(versionRecords)}]`,
  ].join(' ')
}
