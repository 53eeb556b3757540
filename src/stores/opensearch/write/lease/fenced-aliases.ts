import { Unavailable } from '../../../../lib/errors/unavailable.ts'
import {
  type FilterGeneration,
  filterGenerations,
} from '../../../../orders/filters/filter-generations.ts'
import { existingIndices, readAliases } from '../../client/aliases.ts'
import { write } from '../../client/client.ts'
import { TOMBSTONES } from '../../client/documents/tombstone.ts'
import { IndexMissing, isRejectedWith, NOT_FOUND } from '../../client/errors.ts'
import { countDocuments } from '../../client/shards.ts'
import { concreteIndex } from '../../indices/index-names.ts'
import type { PresenceOptions } from '../../indices/index-presence.ts'
import { readVersionRecordIndices } from '../../indices/version-record-index.ts'
import { missingTargets } from './missing-target.ts'

/** The aliases that a fence moves: the write aliases of its epoch, and those that readers use. */
export interface FencedAliases {
  /** The indices behind the read alias. @throws Unavailable without any */
  readLive(): Promise<string[]>
  /** Replaces the write aliases of all epochs by those of this one, in one request. */
  swap(epoch: number, targets: readonly string[], versionRecords: readonly string[]): Promise<void>
  /**
   * Moves the aliases of readers from the indices `live` to the first targets. No bulk runs and
   * everything is refreshed, so readers see no difference.
   */
  makeFirstTargetLive(
    epoch: number,
    targets: readonly string[],
    live: readonly string[],
    versionRecords: readonly string[],
  ): Promise<void>
}

interface FencedAliasesOptions extends PresenceOptions {
  /** Repeats a read through a write alias that a node does not know yet. */
  attempt<T>(work: () => Promise<T>): Promise<T>
}

/** Changes them with requests that fail after the swap of another writer. */
export function createFencedAliases({
  client,
  names,
  deadlineMs,
  attempt,
}: FencedAliasesOptions): FencedAliases {
  return {
    async readLive() {
      const live = Object.keys(await readAliases(client, deadlineMs, [names.orders]))
      // A fence that moved the alias to another index would hide the loss of the live one.
      if (live.length === 0) throw new Unavailable('no index has the alias of the orders')
      return live
    },

    async swap(epoch, targets, versionRecords) {
      const records = [
        concreteIndex(names.eventRecords, 1),
        ...(versionRecords.length > 0 ? versionRecords : [concreteIndex(names.versionRecords, 1)]),
      ]
      const aliases = await readAliases(client, deadlineMs, names.writeAliases)
      await updateAliases([
        ...Object.entries(aliases).flatMap(([index, { aliases }]) =>
          // `must_exist` fails the swap when another writer changed the aliases since the read.
          Object.keys(aliases).map((alias) => ({ remove: { index, alias, must_exist: true } })),
        ),
        ...[...targets, ...records].map((index) => ({
          add: { index, alias: names.writeAlias(index, epoch), is_write_index: true },
        })),
      ]).catch((error) => nameMissingTarget(error, [targets, versionRecords]))
    },

    async makeFirstTargetLive(epoch, [index = ''], live, versionRecords) {
      const alias = names.writeAlias(index, epoch)
      const changes = [
        ...moveAlias(names.orders, live, [index]),
        ...(await moveFilterAliases(index, alias)),
        ...(await moveVersionRecords(versionRecords)),
      ]
      if (changes.length === 0) return
      const writeAlias = { index, alias }
      await updateAliases([
        { remove: { ...writeAlias, must_exist: true } }, // Fails for a writer of an earlier epoch.
        { add: { ...writeAlias, is_write_index: true } },
        ...changes,
      ])
    },
  }

  async function moveFilterAliases(index: string, writeAlias: string): Promise<object[]> {
    const changes: object[] = []
    for (const generation of filterGenerations) {
      const query = lacksColumns(generation)
      const lacking = await attempt(() =>
        countDocuments(client, deadlineMs, writeAlias, { query, terminate_after: 1 }),
      )
      const alias = names.filterAlias(generation)
      const current = Object.keys(await readAliases(client, deadlineMs, [alias]))
      changes.push(...moveAlias(alias, current, lacking === 0 ? [index] : []))
    }
    return changes
  }

  /** Version records are read by id only, so the new index needs no refresh. */
  async function moveVersionRecords([index]: readonly string[]): Promise<object[]> {
    if (index === undefined) return []
    const current = await readVersionRecordIndices(client, names, deadlineMs)
    return moveAlias(names.versionRecords, current, [index])
  }

  /** Such as after a restore of a lease from before the end of a reindex. */
  async function nameMissingTarget(
    error: unknown,
    lists: readonly (readonly string[])[],
  ): Promise<never> {
    if (!(error instanceof IndexMissing)) throw error
    const existing = await existingIndices(client, deadlineMs, lists.flat())
    const [missing] = missingTargets(lists, existing)
    if (missing === undefined) throw error
    const { name, remedy } = missing
    throw new IndexMissing(`a write target is missing: ${remedy}: no such index [${name}]`)
  }

  async function updateAliases(actions: object[]): Promise<void> {
    const { acknowledged } = await write(deadlineMs, (options) =>
      client.indices.updateAliases({ body: { actions: actions as [] } }, options),
    ).catch(throwAliasConflict)
    if (!acknowledged)
      throw new Unavailable('a node of OpenSearch did not acknowledge the new write aliases')
  }
}

/** Matches the documents of releases before a generation. */
const lacksColumns = ({ marker }: FilterGeneration) => ({
  bool: { must_not: [TOMBSTONES, { exists: { field: marker } }] },
})

/** The changes of an alias that is on the indices `from` and must be on `to`. */
function moveAlias(alias: string, from: readonly string[], to: readonly string[]): object[] {
  const removed = from.filter((index) => !to.includes(index))
  const added = to.filter((index) => !from.includes(index))
  return [
    ...removed.map((index) => ({ remove: { index, alias } })),
    ...added.map((index) => ({ add: { index, alias } })),
  ]
}

function throwAliasConflict(error: unknown): never {
  if (!isRejectedWith(error, NOT_FOUND)) throw error
  throw new Unavailable('the write aliases changed while they were swapped', { cause: error })
}
