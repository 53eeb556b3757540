import type { Change } from '../../../../../src/indexing/projection/change.ts'
import type { SourceOrder } from '../../../../../src/indexing/projection/source-order.ts'
import { isRejected } from '../../../../../src/indexing/writer/decide.ts'
import { createWriter } from '../../../../../src/indexing/writer/writer.ts'
import { createKeyedLock } from '../../../../../src/lib/async/keyed-lock.ts'
import type { OpenSearch } from '../../../../../src/stores/opensearch/client/client.ts'
import { isTombstone } from '../../../../../src/stores/opensearch/client/documents/tombstone.ts'
import { indexNames } from '../../../../../src/stores/opensearch/indices/index-names.ts'
import { createBulkSender } from '../../../../../src/stores/opensearch/write/bulk-sender.ts'
import { createCommitter } from '../../../../../src/stores/opensearch/write/committer.ts'
import { createFence } from '../../../../../src/stores/opensearch/write/lease/fence.ts'
import { createReadTargets } from '../../../../../src/stores/opensearch/write/read-targets.ts'
import { createTransactions } from '../../../../../src/stores/opensearch/write/transactions.ts'
import { createWrittenStates } from '../../../../../src/stores/opensearch/write/written-states.ts'
import { changeOf } from '../../../../support/orders/changes.ts'
import { sourceOrder } from '../../../../support/orders/source-order.ts'
import { type Event, HEALTHY, type History } from './bulk-histories.ts'
import { createLeaseHolders } from './lease/lease-holders.ts'
import { createMemoryLeaseDocument } from './lease/memory-lease.ts'
import { createMemoryCluster } from './memory-cluster.ts'
import { createPagingClient, type PagingClient, type Row, rowOf } from './paging-client.ts'

const NOON = Date.parse('2026-03-01T12:00:00Z')
const OWNER = 'acc_1'
const COPRODUCER = 'acc_2'

interface Simulation {
  cluster: ReturnType<typeof createMemoryCluster>
  clients: readonly PagingClient[]
}

async function applyEvent({ cluster, clients }: Simulation, event: Event): Promise<void> {
  if (event.name === 'deliver') cluster.deliver(event.bulk, event.applied)
  if (event.name === 'end bulks') cluster.endBulks()
  if (event.name === 'fail over') cluster.failOver(event.index, event.kept, event.isRepeated)
  if (event.name !== 'page') return
  cluster.shards['orders-v1'].refresh(event.omitted)
  await clients[event.client]?.readPage()
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
  const clients = [OWNER, COPRODUCER].map((accountId, at) =>
    createPagingClient(() => cluster.shards['orders-v1'].searchable(), accountId, at + 1),
  )
  const simulation: Simulation = { cluster, clients }
  const changes = versionsOf(batches)
  const pending = new Set(changes)
  const holders = createLeaseHolders(NOON)
  const document = createMemoryLeaseDocument()
  while (pending.size > 0) {
    const { promise: crashed, resolve: crash } = Promise.withResolvers<void>()
    let isDead = false
    const client = cluster.connect(
      () => isDead,
      () => {
        isDead = true
        crash()
      },
    )
    const writer = await startWriter(client, (fence) =>
      holders.startWriter(document, holders.storeClock.clock.nowMs, fence),
    )
    const writeAll = [...pending].map(async (batch) => {
      const results = await writer.write(batch, 'live')
      if (results.some(isRejected)) throw new Error(`rejected: ${JSON.stringify(results)}`)
      pending.delete(batch)
    })
    await Promise.race([crashed, Promise.all(writeAll)])
  }
  await holders.end()
  cluster.heal()
  for (const client of clients) await client.readToEnd()
  return outcomeOf(simulation, changes.flat())
}

/** By document id, `account:order`; the versions by order id. */
function outcomeOf({ cluster, clients }: Simulation, changes: readonly Change[]) {
  const latest = new Map(changes.map((change) => [change.orderId, change]))
  const expected = [...latest.values()].flatMap(({ views, orderId }) =>
    views.map(({ accountId, order }) => [`${accountId}:${orderId}`, order.amount_total] as const),
  )
  const orders = cluster.shards['orders-v1']
  const indexed = [...orders.documents().values()].filter(({ source }) => !isTombstone(source))
  const records = [...cluster.shards['order-heads-v1'].documents().values()]
  const received = Object.assign({}, ...clients.map(({ copy }) => Object.fromEntries(copy)))
  return {
    expected: Object.fromEntries(expected),
    indexed: Object.fromEntries(indexed.map(({ id, source }) => [id, rowOf(source)])),
    received: received as Record<string, Row>,
    versions: Object.fromEntries([...latest.values()].map((one) => [one.orderId, one.version])),
    recorded: Object.fromEntries(records.map(({ id, source }) => [id, source['version']])),
    log: orders.log(),
  }
}

type StartLease = (
  fence: ReturnType<typeof createFence>,
) => ReturnType<ReturnType<typeof createLeaseHolders>['startWriter']>

/** The parts of a writer, with a lease document in memory. */
async function startWriter(client: OpenSearch, startLease: StartLease) {
  const names = indexNames('')
  const options = { client, names, deadlineMs: 1_000, onDelay() {} }
  const { lease, clock } = await startLease(createFence(options))
  const written = createWrittenStates()
  const { send } = createBulkSender({ ...options, lease, written })
  const committer = createCommitter({ lease, written, send })
  const targets = createReadTargets(lease, names)
  const subscribers = async () => new Set<string>()
  const keyedLock = createKeyedLock()
  const index = {
    async lock(orderIds: readonly string[]) {
      const session = keyedLock.openSession()
      await session.acquire(orderIds)
      const transactions = createTransactions({
        ...options,
        committer,
        targets,
        written,
        subscribers,
      })
      return { ...transactions, release: () => session.release() }
    },
  }
  return createWriter(index, () => clock.nowMs)
}

/** The changes of each call, with increasing versions of each order. */
function versionsOf(batches: History['batches']): Change[][] {
  const versions = new Map<number, number>()
  return batches.map((batch) =>
    batch.map(({ order, amount, isShared, isDated, isDeletion }) => {
      const version = (versions.get(order) ?? 0) + 1
      versions.set(order, version)
      const id = `ord_${order}`
      if (isDeletion) return changeOf({ id, version, owner_account_id: OWNER, deleted: true })
      const given: Partial<SourceOrder> = { id, version, amount_total: amount }
      return changeOf(
        sourceOrder({
          ...given,
          coproducer_account_ids: isShared ? [COPRODUCER] : [],
          ...(!isDated && { changed_at: null }),
        }),
      )
    }),
  )
}
