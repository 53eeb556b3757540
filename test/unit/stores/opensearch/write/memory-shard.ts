import type { BulkItemResult } from '../../../../../src/stores/opensearch/client/bulk/bulk-response.ts'
import { CONFLICT } from '../../../../../src/stores/opensearch/client/errors.ts'

/** One item of a bulk, as OpenSearch parses it. */
export interface ShardItem {
  name: 'index' | 'create'
  _id: string
  if_seq_no?: number
  if_primary_term?: number
  /** An external one. */
  version?: number
  version_type?: 'external' | 'external_gte'
  source: Record<string, unknown>
}

/** A write that the primary applied. */
export interface Operation {
  id: string
  source: Record<string, unknown>
  seqNo: number
  term: number
  version: number
  isReplicated: boolean
}

/** The part of a bulk for one shard. Other tasks may run between two of its items. */
export interface ShardTask {
  opaqueId: string | undefined
  items: readonly ShardItem[]
  /** Of the items that the primary applied. */
  results: BulkItemResult[]
  operations: Operation[]
  /** A dropped one was on a node that left the cluster. */
  state: 'running' | 'ended' | 'dropped'
}

/** The documents of a copy by id, including tombstones. */
export type Documents = ReadonlyMap<string, Operation>

/** One shard with a primary and a replica. A copy has the newest operation of each document. */
export function createMemoryShard(createdMs = 1) {
  let log: Operation[] = []
  let refreshed: readonly Operation[] = []
  let term = 1
  let nextSeqNo = 0
  const running = new Set<ShardTask>()
  let removedNode:
    | { documents: Documents; searchable: Documents; knows(alias: string): boolean }
    | undefined

  /** Applies an item on the primary, if its conditions are met. */
  function apply({ name, _id, source, version, ...expected }: ShardItem, task: ShardTask): void {
    const current = log.findLast(({ id }) => id === _id)
    const last = current?.version ?? -1
    const isConflict =
      (name === 'create' && current !== undefined) ||
      (version !== undefined && last > version) ||
      (version === last && expected.version_type === 'external') ||
      (expected.if_seq_no !== undefined &&
        (expected.if_seq_no !== current?.seqNo || expected.if_primary_term !== current.term))
    if (isConflict) {
      const error = { type: 'version_conflict_engine_exception', reason: _id }
      task.results.push({ status: CONFLICT, error })
      return
    }
    const operation: Operation = {
      id: _id,
      source,
      seqNo: nextSeqNo++,
      term,
      version: version ?? (current?.version ?? 0) + 1,
      isReplicated: false,
    }
    log.push(operation)
    task.operations.push(operation)
    task.results.push({ status: 201, _seq_no: operation.seqNo, _primary_term: term })
  }

  function applyUpTo(task: ShardTask, count: number): void {
    for (const item of task.items.slice(task.results.length, count)) apply(item, task)
  }

  return {
    createdMs,
    running,

    /** Starts a bulk, and applies this many of its items. */
    start(items: readonly ShardItem[], opaqueId: string | undefined, count: number): ShardTask {
      const task: ShardTask = { opaqueId, items, results: [], operations: [], state: 'running' }
      running.add(task)
      applyUpTo(task, count)
      return task
    },

    /** Applies the other items, and replicates all of them. */
    end(task: ShardTask): void {
      if (task.state !== 'running') return
      applyUpTo(task, task.items.length)
      for (const operation of task.operations) operation.isReplicated = true
      task.state = 'ended'
      running.delete(task)
    },

    /** Makes a prefix of the last bulk searchable, on both copies. */
    refresh(omitted = 0): void {
      const shown = log.slice(0, log.length - omitted)
      if (shown.length > refreshed.length) refreshed = shown
    },

    /**
     * The node of the primary leaves the cluster, and the replica becomes the primary. It has this
     * many operations that were not replicated to the end. The node of a bulk that runs repeats it
     * on the new primary, or has left too. `knows`: the aliases that the removed node knows.
     */
    failOver(kept: number, isRepeated: boolean, knows: (alias: string) => boolean): void {
      removedNode = { documents: newestOf(log), searchable: newestOf(refreshed), knows }
      for (const operation of log.filter(({ isReplicated }) => !isReplicated).slice(0, kept)) {
        operation.isReplicated = true
      }
      log = log.filter(({ isReplicated }) => isReplicated)
      refreshed = refreshed.filter(({ isReplicated }) => isReplicated)
      term += 1
      nextSeqNo = Math.max(-1, ...log.map(({ seqNo }) => seqNo)) + 1
      for (const task of running) {
        task.results = []
        task.operations = []
        if (isRepeated) continue
        task.state = 'dropped'
        running.delete(task)
      }
    },

    /** The last node that left the cluster. It still responds to reads. */
    removedNode: () => removedNode,
    documents: () => newestOf(log),
    searchable: () => newestOf(refreshed),
    log: (): readonly Operation[] => log,
  }
}

function newestOf(log: readonly Operation[]): Documents {
  return new Map(log.map((operation) => [operation.id, operation]))
}
