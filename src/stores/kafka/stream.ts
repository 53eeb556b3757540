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
import { fetchNext } from './fetch-next.ts'
import {
  commitOffsets,
  countOffsets,
  listBacklog,
  listCommitted,
  listEarliest,
  readTopics,
} from './offsets.ts'
import { createPositions, type Offsets } from './positions.ts'
import { appendOrders, sendDeadLetters } from './produce.ts'

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
