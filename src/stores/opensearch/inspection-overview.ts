import { setTimeout as pause } from 'node:timers/promises'
import type {
  IndexOverview,
  IndexPart,
  StampState,
  WriterOverview,
} from '../../indexing/inspection/index-inspection.ts'
import { monotonicClock } from '../../lib/clock.ts'
import { ask } from './client.ts'
import type { OpenSearchInspectionOptions } from './inspection.ts'
import { indexBehind } from './names.ts'
import { NO_TOMBSTONES } from './tombstone.ts'
import { stampedUpTo } from './writer/lease.ts'
import { type LeaseRecord, leaseDocument } from './writer/lease-document.ts'
import { createStoreClock } from './writer/store-clock.ts'
import { readVisible } from './writer/stored-stamps.ts'

type Options = OpenSearchInspectionOptions

const GLANCE_MS = 100

/** What there is to know of the index. `lookMs`: how long to look at most whether the writer is alive. */
export async function readOverview(options: Options, lookMs: number): Promise<IndexOverview> {
  // First, and alone: without an index this is what says so.
  const visible = await readVisible(options.client, options.names, options.deadlineMs)
  const [orders, indices, { writer, targets }, stamps] = await Promise.all([
    countHeads(options),
    readIndices(options),
    lookAtWriter(options, lookMs),
    readStamps(options, options.deadlineMs),
  ])
  const fed = (name: string) => targets.includes(name)
  return {
    ...visible,
    orders,
    indices: indices.map((part) => ({ ...part, fed: fed(part.name) })),
    writer,
    stamps,
  }
}

/** The last stamp by the writer's lease, beside the clock of the cluster; `deadlineMs`: for each. */
export async function readStamps(
  { client, names }: Pick<Options, 'client' | 'names'>,
  deadlineMs: number,
): Promise<StampState> {
  const [lease, clockMs] = await Promise.all([
    leaseDocument(client, names, deadlineMs).read(),
    createStoreClock(client, deadlineMs).read(),
  ])
  return { lastStamp: lease && stampedUpTo(lease.record), clockMs }
}

async function countHeads({ client, names, deadlineMs }: Options): Promise<number> {
  const index = names.heads
  // Nobody searches heads, so they become countable seldom.
  await ask(deadlineMs, (call) => client.indices.refresh({ index }, call))
  const { count } = await ask(deadlineMs, (call) => client.count({ index }, call))
  return count
}

async function readIndices(options: Options): Promise<Omit<IndexPart, 'fed'>[]> {
  const { client, names, deadlineMs } = options
  const index = indexBehind(names.orders, '*')
  const [aliases, stats] = await Promise.all([
    ask(deadlineMs, (call) => client.indices.getAlias({ index }, call)),
    ask(deadlineMs, (call) => client.indices.stats({ index, metric: ['store'] }, call)),
  ])
  const versions = Object.entries(aliases).filter(([name]) => names.isVersion(name))
  return Promise.all(
    versions.map(async ([name, { aliases }]) => ({
      name,
      read: names.orders in aliases,
      documents: await countDocuments(options, name),
      bytes: stats.indices?.[name]?.total?.store?.size_in_bytes ?? null,
    })),
  )
}

async function countDocuments({ client, deadlineMs }: Options, index: string): Promise<number> {
  const body: object = { query: NO_TOMBSTONES }
  const { count } = await ask(deadlineMs, (call) => client.count({ index, body }, call))
  return count
}

/** A lease that is renewed changes its document; nothing else tells, since clocks may be apart. */
async function lookAtWriter(
  { client, names, deadlineMs }: Options,
  lookMs: number,
): Promise<{ writer: WriterOverview | null; targets: readonly string[] }> {
  const document = leaseDocument(client, names, deadlineMs)
  const first = await document.read()
  if (first === null) return { writer: null, targets: [] }
  const startedAt = monotonicClock()
  for (let seen = first; ; ) {
    const { record, state } = seen
    const lookedMs = monotonicClock() - startedAt
    const alive = isAlive(record, state.if_seq_no !== first.state.if_seq_no, lookedMs)
    if (alive !== null || lookedMs >= lookMs) {
      return { writer: writerOverview(record, alive), targets: record.targets }
    }
    await pause(GLANCE_MS)
    seen = (await document.read()) ?? seen
  }
}

function isAlive(record: LeaseRecord, isRenewed: boolean, lookedMs: number): boolean | null {
  if (record.released) return false
  if (isRenewed) return true
  return lookedMs >= record.lease_ms ? false : null
}

function writerOverview(
  { holder, purpose, released, lease_ms }: LeaseRecord,
  alive: boolean | null,
): WriterOverview {
  return { holder, purpose, released, alive, leaseMs: lease_ms }
}
