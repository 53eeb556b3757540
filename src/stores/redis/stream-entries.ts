import type { DeadLetter, StreamBatch, StreamEntry } from '../../indexing/sources/change-stream.ts'
import type { Argument } from './stream-commands.ts'

/** Redis hands no more than some thousand values to a command of a script. */
const MAX_DEAD_LETTER_VALUES = 2_000

/** What the script `readBatch` answers. */
export type BatchReply = [clock: [Buffer, Buffer], entries: [id: Buffer, fields: Buffer[] | null][]]

export function parseBatch([[seconds, micros], replies]: BatchReply): StreamBatch {
  const nowMs = Number(seconds) * 1000 + Number(micros) / 1000
  const entries: StreamEntry[] = []
  const lost: string[] = []
  for (const [idBytes, fields] of replies) {
    const id = String(idBytes)
    if (fields === null) lost.push(id)
    else entries.push({ id, order: orderField(fields), fields, ageMs: entryAgeMs(id, nowMs) })
  }
  return { entries, lost }
}

/** The order among an entry's fields; `undefined` where there is not just one. */
export function orderField(fields: readonly Buffer[]): Buffer | undefined {
  const orders = fields.filter((_, at) => at % 2 === 1 && String(fields[at - 1]) === 'order')
  return orders.length === 1 ? orders[0] : undefined
}

/** An id begins with the instant at which it was given, unless somebody gave one of their own. */
export function entryAgeMs(id: string, nowMs: number): number {
  return Math.max(0, nowMs - Number(id.split('-')[0]))
}

/** What is parked of a refused entry: its order as it came, or, where it has not just one, all it has. */
export function deadLetterFields({ id, order, fields, error }: DeadLetter): Argument[] {
  const original = order === undefined ? fields.slice(0, MAX_DEAD_LETTER_VALUES) : ['order', order]
  return ['path', error.path, 'reason', error.reason, 'entry_id', id, ...original]
}
