import { setTimeout as pause } from 'node:timers/promises'
import { Unavailable } from '../../../lib/unavailable.ts'
import { ask, type OpenSearch, Refused, tell } from '../client.ts'
import { type IndexNames, indexBehind } from '../names.ts'
import type { LeaseRecord } from './lease-document.ts'
import { levelIndex } from './level-index.ts'

export interface Fence {
  /**
   * Lets the writer of this epoch write to its targets, and nobody else: not an older one that wakes up, nor
   * what it sent and what is still on its way. Returns when nothing of theirs can be written any more, all
   * targets have what the index that was read has of it, and the first one is what is read.
   * @throws Unavailable when that cannot be told; an attempt of a later epoch may
   */
  raise(lease: LeaseRecord): Promise<void>
}

export interface FenceOptions {
  client: OpenSearch
  names: IndexNames
  /** For each call, the answer's body included. */
  deadlineMs: number
  /** Told what is waited for. */
  onDelay(reason: string): void
}

const POLL_MS = 25
const BULKS = 'indices:data/write/bulk*'

/**
 * Writers write through an alias of their epoch. Swapping it stops every request that is yet to arrive;
 * those that passed it already are waited for, by the mark that they carry among the cluster's tasks.
 */
export function createFence({ client, names, deadlineMs, onDelay }: FenceOptions): Fence {
  return {
    async raise({ epoch, targets }) {
      await swapAliases(epoch, targets)
      if (await hasOlderBulks(epoch)) {
        onDelay('waiting for a bulk that was sent before to end')
        do await pause(POLL_MS)
        while (await hasOlderBulks(epoch))
      }
      await refresh(targets)
      const read = await readIndices()
      for (const index of targets.filter((target) => read.length === 1 && target !== read[0])) {
        const alias = names.writeAlias(index, epoch)
        await levelIndex({ client, deadlineMs, read: read[0] ?? '', index, alias, onDelay })
        await refresh([index])
      }
      await readFirst(epoch, targets, read)
    },
  }

  async function refresh(indices: readonly string[]): Promise<void> {
    const { _shards } = await ask(deadlineMs, (options) =>
      client.indices.refresh({ index: [...indices] }, options),
    )
    if (_shards?.failed !== 0) throw new Unavailable('not every copy could be made visible')
  }

  async function readIndices(): Promise<string[]> {
    const there = await ask(deadlineMs, (options) =>
      client.indices.getAlias({ name: [names.orders] }, options),
    ).catch(noAlias)
    return Object.keys(there)
  }

  /** Nothing is written meanwhile and all is refreshed: no reader sees a difference. */
  async function readFirst(
    epoch: number,
    [index = '']: readonly string[],
    read: readonly string[],
  ): Promise<void> {
    if (read.length === 1 && read[0] === index) return
    const mine = { index, alias: names.writeAlias(index, epoch) }
    await updateAliases([
      { remove: { ...mine, must_exist: true } }, // An older writer that wakes up changes nothing.
      { add: { ...mine, is_write_index: true } },
      ...read.map((old) => ({ remove: { index: old, alias: names.orders } })),
      { add: { index, alias: names.orders } },
    ])
  }

  async function swapAliases(epoch: number, targets: readonly string[]): Promise<void> {
    const there = await ask(deadlineMs, (options) =>
      client.indices.getAlias({ name: [...names.writeAliases] }, options),
    )
    await updateAliases([
      ...Object.entries(there).flatMap(([index, { aliases }]) =>
        // What another writer removed first makes the whole swap fail: it was made on an old look.
        Object.keys(aliases).map((alias) => ({ remove: { index, alias, must_exist: true } })),
      ),
      ...[...targets, indexBehind(names.heads, 1)].map((index) => ({
        add: { index, alias: names.writeAlias(index, epoch), is_write_index: true },
      })),
    ])
  }

  async function updateAliases(actions: object[]): Promise<void> {
    const { acknowledged } = await tell(deadlineMs, (options) =>
      client.indices.updateAliases({ body: { actions: actions as [] } }, options),
    ).catch(changedMeanwhile)
    if (!acknowledged) throw new Unavailable('not every node of OpenSearch took the new aliases')
  }

  async function hasOlderBulks(epoch: number): Promise<boolean> {
    const answer = await ask(deadlineMs, (options) =>
      client.tasks.list({ actions: [BULKS] }, options),
    )
    const { nodes, node_failures, task_failures } = answer as TaskList
    if (node_failures?.length || task_failures?.length || nodes === undefined) {
      throw new Unavailable('not every node of OpenSearch told its tasks')
    }
    const marks = Object.values(nodes).flatMap(({ tasks }) =>
      Object.values(tasks).map(({ headers }) => headers?.['X-Opaque-Id'] ?? ''),
    )
    const ofWriters = names.bulkMark('*').slice(0, -1)
    return marks.some((mark) => mark.startsWith(ofWriters) && mark !== names.bulkMark(epoch))
  }
}

const NOT_FOUND = 404

/** The index was lost: a fence that gave the alias to another one would hide it. */
function noAlias(error: unknown): never {
  if (!(error instanceof Refused && error.status === NOT_FOUND)) throw error
  throw new Unavailable('no alias leads to the index of the orders', { cause: error })
}

function changedMeanwhile(error: unknown): never {
  if (!(error instanceof Refused && error.status === NOT_FOUND)) throw error
  throw new Unavailable('the write aliases changed while they were swapped', { cause: error })
}

interface TaskList {
  nodes?: Record<string, { tasks: Record<string, { headers?: Record<string, string> }> }>
  node_failures?: unknown[]
  task_failures?: unknown[]
}
