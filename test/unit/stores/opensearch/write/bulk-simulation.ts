import type { Change } from '../../../../../src/indexing/projection/change.ts'
import { isRejected } from '../../../../../src/indexing/writer/decide.ts'
import { LeaseLostError } from '../../../../../src/indexing/writer/writer-errors.ts'
import { createMutex } from '../../../../../src/lib/async/mutex.ts'
import { Unavailable } from '../../../../../src/lib/errors/unavailable.ts'
import { isTombstone } from '../../../../../src/stores/opensearch/client/documents/tombstone.ts'
import { type Event, HEALTHY, type History } from './bulk-histories.ts'
import { COPRODUCER, latestOf, OWNER, versionsOf } from './history-changes.ts'
import { createLeaseHolders } from './lease/lease-holders.ts'
import { createMemoryLeaseDocument } from './lease/memory-lease.ts'
import { createMemoryClient } from './memory-client.ts'
import { createMemoryCluster, type MemoryCluster } from './memory-cluster.ts'
import { createPagingClient, type PagingClient, type Row, rowOf } from './paging-client.ts'
import { createProcess, type SimulatedProcess } from './simulated-process.ts'
import { type Command, createSimulatedReindex } from './simulated-reindex.ts'
import { type SimulatedWriter, startWriter } from './simulated-writer.ts'

const NOON = Date.parse('2026-03-01T12:00:00Z')
/** An index is older than everything that is written this long after its creation. */
const BEFORE_REINDEX_MS = 10_000
const MICROTASKS_PER_REQUEST = 15

interface Simulation {
  cluster: MemoryCluster
  clients: readonly PagingClient[]
  startCommand(command: Command): void
  /** Another writer takes the lease over, and the active one continues until it notices that. */
  takeOver(): void
}

async function applyEvent(simulation: Simulation, event: Event): Promise<void> {
  const { cluster, clients } = simulation
  if (event.name === 'deliver') cluster.deliver(event.bulk, event.applied)
  if (event.name === 'end bulks') cluster.endBulks()
  if (event.name === 'reindex') simulation.startCommand(event.command)
  if (event.name === 'take over') simulation.takeOver()
  if (event.name === 'fail over') {
    const index = failedIndex(cluster, event.index)
    cluster.failOver(index, event.kept, event.isRepeated)
  }
  if (event.name === 'pause') await pause(event.requests)
  if (event.name !== 'page') return
  cluster.shard(liveIndex(cluster)).refresh(event.omitted)
  await clients[event.client]?.readPage()
}

/** For about this many requests of another process. */
async function pause(requests: number): Promise<void> {
  for (let turn = 0; turn < requests * MICROTASKS_PER_REQUEST; turn++) await null
}

const liveIndex = ({ aliases }: MemoryCluster) => aliases.get('orders') ?? ''

function failedIndex(cluster: MemoryCluster, name: string): string {
  if (name === 'version records') return 'order-heads-v1'
  const live = liveIndex(cluster)
  if (name === 'live') return live
  return cluster.indices().find((index) => index.startsWith('orders-') && index !== live) ?? ''
}

/**
 * Runs a history: a writer writes all changes, and a new one takes over after a crash. It repeats
 * each call that has not returned. Then the cluster heals, and the clients page to the end.
 */
export async function runHistory({ batches, turns, outdatedReads }: History) {
  const remainingTurns = [...turns]
  const remainingReads = [...outdatedReads]
  const run = async (events: readonly Event[]) => {
    for (const event of events) await applyEvent(simulation, event)
  }
  const cluster = createMemoryCluster(
    () => {
      const next = remainingTurns.shift() ?? HEALTHY
      return { ...next, before: () => run(next.before), during: () => run(next.during) }
    },
    () => remainingReads.shift() ?? false,
  )
  const searchable = () => cluster.shard(liveIndex(cluster)).searchable()
  const clients = [OWNER, COPRODUCER].map((accountId, at) =>
    createPagingClient(searchable, accountId, at + 1),
  )
  const holders = createLeaseHolders(NOON)
  const { clock } = holders.storeClock
  const document = createMemoryLeaseDocument()
  const acquire = createMutex()
  let active: (SimulatedWriter & { process: SimulatedProcess }) | undefined

  /** The active writer, or a new one after a crash. */
  const writer = () =>
    acquire(async () => {
      while (active === undefined || active.process.isDead()) {
        const process = createProcess()
        const client = createMemoryClient(cluster, process, () => clock.nowMs)
        const started = startWriter(client, (fence) =>
          holders.startWriter(document, clock.nowMs, fence),
        ).catch(unavailableOnly)
        const one = await Promise.race([started, process.crashed])
        if (one) active = { ...one, process }
      }
      return active
    })
  let command: Promise<void> | undefined
  const simulation: Simulation = {
    cluster,
    clients,
    takeOver() {
      active?.process.replace()
      active = undefined
    },
    startCommand(name) {
      if (command !== undefined || active === undefined) return
      // A known limit of `reindex.md`: a command relies on copies of an earlier one that still run.
      cluster.endBulks(({ opaqueId }) => opaqueId === undefined)
      clock.nowMs += BEFORE_REINDEX_MS
      active.clock.nowMs = clock.nowMs
      const process = createProcess()
      const client = createMemoryClient(cluster, process, () => clock.nowMs)
      const reindexing = createSimulatedReindex(client, {
        process,
        document,
        nowMs: () => clock.nowMs,
        async applyTargets() {
          const { committer, process } = await writer()
          committer.requireFence()
          await Promise.race([committer.fence().catch(leaseLostOnly), process.crashed])
        },
      })
      const ended = reindexing[name]().then(() => {}, rejectedOnly)
      command = Promise.race([ended, process.crashed]).finally(() => {
        command = undefined
      })
    },
  }
  const changes = versionsOf(batches)
  const pending = new Set(changes)
  while (pending.size > 0) {
    const { write, process } = await writer()
    const writeAll = [...pending].map(async (batch) => {
      const results = await write(batch, 'live')
      if (results.some(isRejected)) throw new Error(`rejected: ${JSON.stringify(results)}`)
      pending.delete(batch)
    })
    const written = Promise.all(writeAll).catch(leaseLostOnly)
    await Promise.race([process.crashed, process.replaced, written])
  }
  while (command !== undefined) await command
  await holders.end()
  cluster.heal()
  for (const client of clients) await client.readToEnd()
  return outcomeOf(simulation, changes.flat(), document.record()?.targets ?? [])
}

function unavailableOnly(error: unknown): undefined {
  if (!(error instanceof Unavailable)) throw error
}

/** Another writer repeats the changes. */
function leaseLostOnly(error: unknown): void {
  if (!(error instanceof LeaseLostError)) throw error
}

/** A command may end with an error for the operator. */
function rejectedOnly(error: Error): void {
  if (!(error instanceof Unavailable) && error.constructor !== Error) throw error
}

/** By document id, `account:order`; the versions by order id. */
function outcomeOf(
  { cluster, clients }: Simulation,
  changes: readonly Change[],
  targets: readonly string[],
) {
  const { amounts, versions } = latestOf(changes)
  const rowsOf = (index: string) => {
    const documents = [...cluster.shard(index).documents().values()]
    const orders = documents.filter(({ source }) => !isTombstone(source))
    return Object.fromEntries(orders.map(({ id, source }) => [id, rowOf(source)]))
  }
  const records = [...cluster.shard('order-heads-v1').documents().values()]
  const received = Object.assign({}, ...clients.map(({ copy }) => Object.fromEntries(copy)))
  const live = liveIndex(cluster)
  const former = targets.find((index) => index < live) ?? live
  return {
    expected: amounts,
    indexed: rowsOf(live),
    /** Of the index that a rollback makes live, if there is one. */
    former: rowsOf(former),
    received: received as Record<string, Row>,
    versions,
    recorded: Object.fromEntries(records.map(({ id, source }) => [id, source['version']])),
    log: cluster.shard(live).log(),
  }
}
