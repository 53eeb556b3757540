import type {
  AcknowledgedEntry,
  StreamInspection,
} from '../../indexing/consistency-check/stream-inspection.ts'
import type { StreamCommands } from './stream-commands.ts'
import { connectStream, GROUP, type RedisStreamOptions } from './stream-connection.ts'
import { entryAgeMs, orderField } from './stream-entries.ts'
import { backlog } from './stream-scripts.ts'

/** Few, since an order may be of many megabytes. */
const PAGE_ENTRIES = 32
const PAGE_PENDING = 1_000

/** Looks into the stream of changes in Redis: no group is made, and nothing counts as delivered. */
export async function openRedisStreamInspection(
  options: RedisStreamOptions,
): Promise<StreamInspection> {
  const { commands, stream, deadLetterStream: deadLetters, close } = await connectStream(options)
  return {
    async backlog() {
      const [entries, oldestAgeMs, refused] = await Promise.all([
        commands.run(backlog, [stream], GROUP),
        readOldestAge(commands, stream),
        commands.send((redis) => redis.xlen(deadLetters)),
      ])
      return { backlog: Number(entries), oldestAgeMs, refused }
    },
    acknowledged: () => readAcknowledged(commands, stream),
    close,
  }
}

/** The id that was delivered last; `null` before there is a group. */
async function lastDelivered({ send }: StreamCommands, stream: string): Promise<string | null> {
  const reply = send((redis) => redis.xinfo('GROUPS', stream) as Promise<unknown[][]>)
  const groups = await reply.catch(emptyIfMissing)
  const group = groups.find((fields) => fieldValue(fields, 'name') === GROUP)
  return group === undefined ? null : String(fieldValue(group, 'last-delivered-id'))
}

function emptyIfMissing(error: Error): unknown[][] {
  if (error.message.includes('no such key')) return []
  throw error
}

/** Facts are told as names and values, by turns. */
function fieldValue(fields: readonly unknown[], name: string): unknown {
  return fields[fields.indexOf(name) + 1]
}

async function readOldestAge(commands: StreamCommands, stream: string): Promise<number | null> {
  const { send } = commands
  const last = await lastDelivered(commands, stream)
  const [next] = await send((redis) => redis.xrange(stream, `(${last ?? '0-0'}`, '+', 'COUNT', 1))
  const pending = last === null ? [] : await send((redis) => redis.xpending(stream, GROUP))
  // What is pending was delivered before everything that was not.
  const oldest = (pending[1] as string | null | undefined) ?? next?.[0]
  const [seconds = 0, micros = 0] = await send((redis) => redis.time())
  return oldest === undefined ? null : entryAgeMs(oldest, seconds * 1000 + micros / 1000)
}

async function* readAcknowledged(
  commands: StreamCommands,
  stream: string,
): AsyncGenerator<AcknowledgedEntry[]> {
  const last = await lastDelivered(commands, stream)
  if (last === null) return
  for (let from = '-'; ; ) {
    const reply = await commands.send((redis) =>
      redis.callBuffer('XRANGE', stream, from, last, 'COUNT', PAGE_ENTRIES),
    )
    const page = (reply as [id: Buffer, fields: Buffer[]][]).map(([id, fields]) => {
      return { id: String(id), order: orderField(fields) ?? null }
    })
    const [first, end] = [page[0]?.id, page.at(-1)?.id]
    if (first === undefined || end === undefined) return
    const pending = await readPending(commands, stream, first, end)
    yield page.filter(({ id }) => !pending.has(id))
    from = `(${end}`
  }
}

/** The ids from one to the other that a consumer has in its hands. */
async function readPending(
  { send }: StreamCommands,
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
