import {
  type ChangeStream,
  type LostEntries,
  READ_LIMITS,
  type StreamBatch,
  type StreamEntry,
} from '../../indexing/sources/change-stream.ts'
import { monotonicClock } from '../../lib/clock.ts'
import { HOUR_MS } from '../../lib/durations.ts'
import { connectKafka, type KafkaConnection, type KafkaOptions } from './connection.ts'
import { fetchEntries } from './fetch-entries.ts'
import { hasBrokerError } from './kafka-errors.ts'
import {
  commitOffsets,
  countOffsets,
  listBacklog,
  listCommitted,
  listEarliest,
  listRanges,
  readTopics,
} from './offsets.ts'
import { createPositions, entryId, type Offsets, type Positions } from './positions.ts'
import { appendOrders, sendDeadLetters } from './produce.ts'

/** How long a read waits for new entries. */
const WAIT_MS = 500
const PROBE_MS = 2_000
/** Kafka forgets the offsets of a group without members days after their commit. */
const RECOMMIT_MS = HOUR_MS

/** Opens the topic of changes. While Kafka is unavailable, every call rejects. */
export function openKafkaStream(options: KafkaOptions): ChangeStream {
  const connection = connectKafka(options)
  const { send } = connection
  return {
    ...createConsumer(connection),
    /** Kafka removes records by the retention of the topic. */
    async trim() {},
    append: (orders) => appendOrders(connection, orders),
    async ping() {
      await send(() => readTopics(connection), PROBE_MS)
    },
    backlog: () =>
      send(async () => {
        const { changes } = await readTopics(connection)
        return countOffsets((await listBacklog(connection, changes.partitions)).values())
      }, PROBE_MS),
    close: connection.close,
  }
}

/** How many unread records it had is unknown. */
const REPLACED_TOPIC: LostEntries = {
  id: 'all that the topic had: it was deleted and created again',
  count: 1,
}

type ConsumerMethods = Pick<ChangeStream, 'claimPending' | 'read' | 'acknowledge' | 'deadLetter'>

/**
 * Consumes every partition without being a member of the group, because the writer's lease decides
 * which process reads. The next writer thus starts at once at the committed offsets.
 */
function createConsumer(connection: KafkaConnection): ConsumerMethods {
  const { send } = connection
  const positions = createPositions()
  let topicId: string | undefined
  let turn = 0
  let recommittedAt = monotonicClock()

  async function commit(): Promise<void> {
    const offsets = positions.toCommit()
    if (offsets.size === 0) return
    await send(() => commitOffsets(connection, offsets))
    positions.recordCommitted(offsets)
  }

  function unacknowledged(): StreamEntry[] {
    const now = monotonicClock()
    return positions.unacknowledged(READ_LIMITS).map(({ enteredAtMs, offset: _, ...entry }) => {
      return { ...entry, ageMs: now - enteredAtMs }
    })
  }

  return {
    async claimPending() {
      connection.fetcher.clearMetadata() // For new partitions, and for a new topic of the name.
      const found = await send(() => readStarts(connection, topicId))
      if (found.isReplaced) positions.clear()
      positions.syncCommitted(found.committed, found.starts)
      // Before the new id is known: an offset of the deleted topic may be committed for the name.
      if (found.isReplaced) await commit()
      topicId = found.topicId
      if (monotonicClock() - recommittedAt >= RECOMMIT_MS) {
        positions.recommit()
        recommittedAt = monotonicClock()
      }
      return found.isReplaced ? [REPLACED_TOPIC] : []
    },

    async read(): Promise<StreamBatch> {
      const entries = unacknowledged()
      if (entries.length > 0) return { entries, lost: [] }
      const lost = await fetchNext(connection, positions, turn++)
      return { entries: unacknowledged(), lost }
    },

    async acknowledge(ids) {
      positions.acknowledge(ids)
      await commit()
    },

    async deadLetter(entries) {
      const rejected = entries.filter(({ id }) => positions.isPending(id))
      await sendDeadLetters(connection, rejected)
      positions.acknowledge(rejected.map(({ id }) => id))
      await commit()
    },
  }
}

interface Starts {
  topicId: string
  /** The topic was created again since the last call. */
  isReplaced: boolean
  committed: Offsets
  /** The oldest record of each partition without a committed offset. */
  starts: Offsets
}

/**
 * Where a consumer starts. A topic that was created again has no committed offsets, although Kafka
 * may return those of the deleted one for a moment.
 */
async function readStarts(
  connection: KafkaConnection,
  knownId: string | undefined,
): Promise<Starts> {
  const { id: topicId, partitions } = (await readTopics(connection)).changes
  const isReplaced = knownId !== undefined && knownId !== topicId
  const committed = isReplaced ? new Map() : await listCommitted(connection, partitions)
  const others = partitions.filter((partition) => !committed.has(partition))
  const starts = await listEarliest(connection, connection.topic, others)
  return { topicId, isReplaced, committed, starts }
}

/** Fetches into the positions. Returns the entries that were removed before they were read. */
async function fetchNext(
  connection: KafkaConnection,
  positions: Positions,
  turn: number,
): Promise<LostEntries[]> {
  try {
    const limits = { maxBytes: READ_LIMITS.bytes, waitMs: WAIT_MS }
    const fetched = await connection.send(() =>
      fetchEntries(connection, rotate(positions.fetchOffsets(), turn), limits),
    )
    for (const [partition, entries] of fetched) positions.add(partition, entries)
    return []
  } catch (error) {
    if (hasBrokerError(error, ['OFFSET_OUT_OF_RANGE'])) {
      return await skipRemoved(connection, positions)
    }
    throw error
  }
}

/** Begins with another partition at each turn, because a response favours the first ones. */
function rotate(offsets: Offsets, turn: number): Offsets {
  const all = [...offsets]
  const first = all.length === 0 ? 0 : turn % all.length
  return new Map([...all.slice(first), ...all.slice(0, first)])
}

/** Moves each partition to its oldest record, where the next one to read was removed. */
async function skipRemoved(
  connection: KafkaConnection,
  positions: Positions,
): Promise<LostEntries[]> {
  const offsets = positions.fetchOffsets()
  const ranges = await connection.send(() =>
    listRanges(connection, connection.topic, [...offsets.keys()]),
  )
  const lost: LostEntries[] = []
  for (const [partition, { from, to }] of ranges) {
    const offset = offsets.get(partition) ?? from
    if (offset >= from && offset <= to) continue
    positions.seek(partition, from)
    lost.push(
      offset < from ? removed(partition, offset, from - 1n) : truncated(partition, to, offset),
    )
  }
  return lost
}

function removed(partition: number, first: bigint, last: bigint): LostEntries {
  const ids = [...new Set([first, last])].map((offset) => entryId(partition, offset))
  return { id: ids.join(' to '), count: Number(last - first) + 1 }
}

/** The partition lost records that were written, and maybe others: offsets repeat. */
function truncated(partition: number, end: bigint, position: bigint): LostEntries {
  const [first, next] = [entryId(partition, end), entryId(partition, position)]
  return { id: `all from ${first} on: the partition ends before ${next}`, count: 1 }
}
