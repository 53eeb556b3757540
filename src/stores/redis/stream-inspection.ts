import type {
  AcknowledgedEntry,
  StreamInspection,
} from '../../indexing/consistency-check/stream-inspection.ts'
import type { SendCommand } from './stream-commands.ts'
import { connectStream, GROUP, type RedisStreamOptions } from './stream-connection.ts'
import { entryAgeMs, orderField } from './stream-entries.ts'

/** Small, because one order may have many megabytes. */
const PAGE_ENTRIES = 32
const PAGE_PENDING = 1_000

/** Read-only access to the change stream: creates no group and delivers no entry. */
export async function openRedisStreamInspection(
  options: RedisStreamOptions,
): Promise<StreamInspection> {
  const { send, stream, deadLetterStream: deadLetters, close } = await connectStream(options)
  return {
    async backlog() {
      const [entries, oldestAgeMs, deadLetterCount] = await Promise.all([
        send((redis) => redis.streamBacklog(stream, GROUP)),
        readOldestAge(send, stream),
        send((redis) => redis.xlen(deadLetters)),
      ])
      return { backlog: entries, oldestAgeMs, deadLetters: deadLetterCount }
    },
    acknowledged: () => readAcknowledged(send, stream),
    close,
  }
}

/** The last delivered id; `null` before the group exists. */
async function lastDelivered(send: SendCommand, stream: string): Promise<string | null> {
  const reply = send((redis) => redis.xinfo('GROUPS', stream) as Promise<unknown[][]>)
  const groups = await reply.catch(emptyIfMissing)
  const group = groups.find((fields) => fieldValue(fields, 'name') === GROUP)
  return group === undefined ? null : String(fieldValue(group, 'last-delivered-id'))
}

function emptyIfMissing(error: Error): unknown[][] {
  if (error.message.includes('no such key')) return []
  throw error
}

/** Finds a field in a flat reply of alternating names and values. */
function fieldValue(fields: readonly unknown[], name: string): unknown {
  return fields[fields.indexOf(name) + 1]
}

async function readOldestAge(send: SendCommand, stream: string): Promise<number | null> {
  const last = await lastDelivered(send, stream)
  const [next] = await send((redis) => redis.xrange(stream, `(${last ?? '0-0'}`, '+', 'COUNT', 1))
  const pending = last === null ? [] : await send((redis) => redis.xpending(stream, GROUP))
  // Pending entries are older than undelivered ones.
  const oldest = (pending[1] as string | null | undefined) ?? next?.[0]
  const [seconds = 0, micros = 0] = await send((redis) => redis.time())
  return oldest === undefined ? null : entryAgeMs(oldest, seconds * 1000 + micros / 1000)
}

async function* readAcknowledged(
  send: SendCommand,
  stream: string,
): AsyncGenerator<AcknowledgedEntry[]> {
  const last = await lastDelivered(send, stream)
  if (last === null) return
  for (let from = '-'; ; ) {
    const reply = await send((redis) =>
      redis.callBuffer('XRANGE', stream, from, last, 'COUNT', PAGE_ENTRIES),
    )
    const page = (reply as [id: Buffer, fields: Buffer[]][]).map(([id, fields]) => {
      return { id: String(id), order: orderField(fields) ?? null }
    })
    const [first, end] = [page[0]?.id, page.at(-1)?.id]
    if (first === undefined || end === undefined) return
    const pending = await readPending(send, stream, first, end)
    yield page.filter(({ id }) => !pending.has(id))
    from = `(${end}`
  }
}

/** The pending ids in the range. */
async function readPending(
  send: SendCommand,
  stream: string,
  first: string,
  end: string,
): Promise<Set<string>> {
  const pending = new Set<string>()
  for (let from = first; ; ) {
    const entries = (await send((redis) =>
      redis.xpending(stream, GROUP, from, end, PAGE_PENDING),
    )) as [id: string, ...unknown[]][]
    for (const [id] of entries) pending.add(id)
    const last = entries.at(-1)?.[0]
    if (entries.length < PAGE_PENDING || last === undefined) return pending
    from = `(${last}`
  }
}
