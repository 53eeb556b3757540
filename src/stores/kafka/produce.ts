import type { MessageToProduce } from '@platformatic/kafka'
import type { ValidationError } from '../../indexing/projection/change.ts'
import type { DeadLetter, RejectedOrders } from '../../indexing/sources/change-stream.ts'
import { inBatches } from '../../indexing/sources/ndjson.ts'
import type { KafkaConnection } from './connection.ts'
import { hasBrokerError } from './kafka-errors.ts'

/** All replicas in sync have a record before it counts as appended. */
const ALL = -1
/** Kafka limits a request for one partition to a megabyte by default. */
const SEND_BATCH = { entries: 500, bytes: 512 * 1024 }
const TOO_LARGE = ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE']

type ProducerOf = Pick<KafkaConnection, 'producer' | 'send'>

/**
 * Appends source orders to the topic, without key: the partitions take turns. Returns the positions
 * of those that the topic rejects for their size.
 * @throws Unavailable
 */
export async function appendOrders(
  connection: ProducerOf & Pick<KafkaConnection, 'topic'>,
  orders: readonly Buffer[],
): Promise<RejectedOrders> {
  const { topic } = connection
  const rejected = new Map<number, ValidationError>()
  const entries = orders.map((value, position) => ({ position, value, bytes: value.length }))

  async function append(batch: typeof entries): Promise<void> {
    const records = batch.map(({ value }) => ({ topic, value }))
    await produce(connection, records).catch(async (failure: unknown) => {
      if (!(failure instanceof RecordTooLarge)) throw failure
      const [one, another] = batch
      if (one === undefined) return
      if (another === undefined) rejected.set(one.position, { path: '', reason: failure.message })
      // The limit of the topic applies to the records of a request together.
      else for (const half of halves(batch)) await append(half)
    })
  }

  for await (const batch of inBatches([entries], SEND_BATCH)) await append(batch)
  return rejected
}

function halves<T>(batch: readonly T[]): T[][] {
  const middle = Math.ceil(batch.length / 2)
  return [batch.slice(0, middle), batch.slice(middle)]
}

/** Sends each rejected record with its key and value, and the reason in headers. */
export async function sendDeadLetters(
  connection: ProducerOf & Pick<KafkaConnection, 'deadLetterTopic'>,
  deadLetters: readonly DeadLetter[],
): Promise<void> {
  const topic = connection.deadLetterTopic
  for (const { id, order, fields, error } of deadLetters) {
    const [, key] = fields
    const headers = { path: error.path, reason: error.reason, entry_id: id }
    const keyed = { topic, ...(key && { key }) }
    const whole = { ...keyed, ...(order && { value: order }), headers: toHeaders(headers) }
    await produce(connection, [whole]).catch(async (failure: unknown) => {
      if (!(failure instanceof RecordTooLarge)) throw failure
      // Without its value it fits, and the record itself stays in its topic until the retention.
      const omitted = { ...headers, omitted_bytes: String(order?.length ?? 0) }
      await produce(connection, [{ ...keyed, headers: toHeaders(omitted) }])
    })
  }
}

class RecordTooLarge extends Error {
  constructor(topic: string) {
    super(
      `the topic "${topic}" rejects a record for its size: raise its max.message.bytes to 5 MiB, above the largest order`,
    )
    this.name = 'RecordTooLarge'
  }
}

async function produce({ producer, send }: ProducerOf, messages: MessageToProduce[]) {
  const work = () => producer.send({ messages, acks: ALL })
  await send(work).catch((error: unknown) => {
    if (!hasBrokerError(error, TOO_LARGE)) throw error
    throw new RecordTooLarge(messages[0]?.topic ?? '')
  })
}

function toHeaders(headers: Record<string, string>): Map<Buffer, Buffer> {
  const entries = Object.entries(headers)
  return new Map(entries.map(([name, text]) => [Buffer.from(name), Buffer.from(text)]))
}
