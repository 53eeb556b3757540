import type {
  DeadLetter,
  LostEntries,
  StreamBatch,
  StreamEntry,
} from '../../indexing/sources/change-stream.ts'
import type { Argument, BatchReply } from './stream-scripts.ts'

/** Lua's `unpack` passes only some thousand values to a command. */
const MAX_DEAD_LETTER_VALUES = 2_000

/**
 * Parses the reply of the read script. Ages are milliseconds by the clock of Redis. An entry
 * without fields is no longer in the stream.
 */
export function parseBatch([[seconds, micros], replies, undelivered]: BatchReply): StreamBatch {
  const nowMs = Number(seconds) * 1000 + Number(micros) / 1000
  const entries: StreamEntry[] = []
  const [count, upTo] = undelivered
  const lost: LostEntries[] = count > 0 ? [{ id: `up to ${upTo}`, count }] : []
  for (const [idBytes, fields] of replies) {
    const id = String(idBytes)
    if (fields === null) lost.push(lostEntry(id))
    else entries.push({ id, order: orderField(fields), fields, ageMs: entryAgeMs(id, nowMs) })
  }
  return { entries, lost }
}

export const lostEntry = (id: string): LostEntries => ({ id, count: 1 })

/** Whether an id is that of one entry: entries lost undelivered have none. */
export const isEntryId = (id: string): boolean => /^\d+-\d+$/.test(id)

/** The `order` field of an entry; `undefined` unless there is exactly one. */
export function orderField(fields: readonly Buffer[]): Buffer | undefined {
  const orders = fields.filter((_, at) => at % 2 === 1 && String(fields[at - 1]) === 'order')
  return orders.length === 1 ? orders[0] : undefined
}

/** Age by the timestamp in the id. A producer that sets its own ids makes it meaningless. */
export function entryAgeMs(id: string, nowMs: number): number {
  return Math.max(0, nowMs - Number(id.split('-')[0]))
}

/**
 * Fields of a dead letter: the unchanged order if there is exactly one, else all original fields.
 */
export function deadLetterFields({ id, order, fields, error }: DeadLetter): Argument[] {
  const original = order === undefined ? fields.slice(0, MAX_DEAD_LETTER_VALUES) : ['order', order]
  return ['path', error.path, 'reason', error.reason, 'entry_id', id, ...original]
}
