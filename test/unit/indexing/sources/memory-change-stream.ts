import type {
  ChangeStream,
  DeadLetter,
  LostEntries,
  StreamEntry,
} from '../../../../src/indexing/sources/change-stream.ts'

export interface MemoryChangeStream extends ChangeStream {
  /** Adds an entry with this order, or without one. */
  add(order: string | undefined): string
  /** Delivers the oldest entries to another consumer; they are then pending. */
  deliverElsewhere(count: number): void
  /** Deletes a delivered entry: each read reports it as lost until it is acknowledged. */
  deletePending(id: string): void
  /** The operations on entries, in sequence: `ack 1`, `dead-letter 2`. */
  operations: string[]
  deadLetters: DeadLetter[]
  /** Ids that the next read or claim reports as deleted. */
  lostOnRead: string[]
  lostOnClaim: string[]
  /** Called with the name of each call; an error that it throws fails the call. */
  before: (call: string) => void
  /** Entries that are not acknowledged. */
  waiting(): string[]
  /** The age of new entries. */
  ageMs: number
}

const lostEntry = (id: string): LostEntries => ({ id, count: 1 })

/** A stream in a list, which returns three entries at a time and never blocks for long. */
export function createMemoryChangeStream(): MemoryChangeStream {
  const entries = new Map<string, StreamEntry>()
  const deliveredElsewhere = new Set<string>()
  const deleted = new Set<string>()
  let count = 0

  const settle = (ids: readonly string[]) => {
    for (const id of ids) {
      entries.delete(id)
      deleted.delete(id)
    }
  }
  const call = (name: string) => stream.before(name)

  const stream: MemoryChangeStream = {
    operations: [],
    deadLetters: [],
    lostOnRead: [],
    lostOnClaim: [],
    before: () => {},
    ageMs: 0,
    add(order) {
      const id = String(++count)
      const bytes = order === undefined ? undefined : Buffer.from(order)
      entries.set(id, { id, order: bytes, fields: [], ageMs: stream.ageMs })
      return id
    },
    deliverElsewhere(atMost) {
      for (const id of [...entries.keys()].slice(0, atMost)) deliveredElsewhere.add(id)
    },
    deletePending(id) {
      entries.delete(id)
      deleted.add(id)
    },
    waiting: () => [...entries.keys()],

    async claimPending() {
      call('claim')
      deliveredElsewhere.clear()
      return stream.lostOnClaim.splice(0).map(lostEntry)
    },
    async read() {
      call('read')
      const readable = [...entries.values()].filter(({ id }) => !deliveredElsewhere.has(id))
      if (readable.length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
      const lost = [...deleted, ...stream.lostOnRead.splice(0)].map(lostEntry)
      return { entries: readable.slice(0, 3), lost }
    },
    async acknowledge(ids) {
      call('acknowledge')
      settle(ids)
      stream.operations.push(...ids.map((id) => `ack ${id}`))
    },
    async deadLetter(rejected) {
      call('dead-letter')
      settle(rejected.map(({ id }) => id))
      stream.deadLetters.push(...rejected)
      stream.operations.push(...rejected.map(({ id }) => `dead-letter ${id}`))
    },
    async trim() {
      call('trim')
    },
    async backlog() {
      call('backlog')
      return entries.size
    },
    async append(orders) {
      call('append')
      for (const order of orders) stream.add(String(order))
      return new Map()
    },
    async ping() {},
    close() {},
  }
  return stream
}
