import { describe, expect, it } from 'vitest'
import { createRandom } from '../../../../../src/demo/random.ts'
import type { StoredDelivery } from '../../../../../src/webhooks/deliveries/delivery.ts'
import { FAILING_WINDOW_MS } from '../../../../../src/webhooks/dispatcher/lanes/failing-orders.ts'
import { createLaneQueue } from '../../../../../src/webhooks/dispatcher/lanes/lane-queue.ts'
import type { QueueRead } from '../../../../../src/webhooks/dispatcher/lanes/queue-read.ts'
import { byEffort } from '../../../../support/effort.ts'
import { delivery } from '../../../../support/webhooks/delivery.ts'

const WALKS = byEffort(2_000, 10_000)
const STEPS = 250
const ORDERS = ['ord_1', 'ord_2', 'ord_3']
const RETRY_MS = 5_000
const CAPACITY = 8

interface Read {
  read: QueueRead
  /** What each search finds, from its instant on. */
  failing: StoredDelivery[]
  exclusions: Exclusions | null
  found: { due: StoredDelivery[]; nextAt: number | null; isFullPage: boolean } | null
}

type Exclusions = ReturnType<QueueRead['exclusions']>

/** A queue over a simulated store, whose calls end in any order with each other. */
function walk(seed: number) {
  const random = createRandom(seed, 1, 0)
  const queue = createLaneQueue({ count: 0, limit: random.pick([4, 100]) })
  const store = new Map<string, StoredDelivery>()
  const sequences = new Map<string, number>()
  const inFlight = new Map<string, StoredDelivery>()
  const unoffered: { rows: StoredDelivery[]; readsBefore: number }[] = []
  const unsettled: { taken: StoredDelivery; saved: StoredDelivery | null }[] = []
  const early: string[] = []
  const again: string[] = []
  let reading: Read | null = null
  let isSuspended = false
  let nowMs = 10_000

  const pending = () => [...store.values()].filter(({ state }) => state === 'pending')
  const dueAt = ({ nextAt }: StoredDelivery) => nextAt ?? Number.POSITIVE_INFINITY
  const byDue = (one: StoredDelivery, other: StoredDelivery) =>
    dueAt(one) - dueAt(other) ||
    one.event.recordedAt - other.event.recordedAt ||
    (one.event.sequence ?? 0) - (other.event.sequence ?? 0)

  function save(row: StoredDelivery): StoredDelivery {
    const saved = { ...row, revision: Number(row.revision) + 1 }
    store.set(row.id, saved)
    return saved
  }

  function create(): void {
    const rows = Array.from({ length: random.between(1, 6) }, () => {
      const orderId = random.pick(ORDERS)
      const sequence = (sequences.get(orderId) ?? 0) + 1
      sequences.set(orderId, sequence)
      const row = delivery({ event: { orderId, sequence, recordedAt: nowMs }, nextAt: nowMs })
      return save({ ...row, revision: 0 })
    })
    unoffered.push({ rows, readsBefore: queue.reads() })
  }

  function offer(): void {
    const created = unoffered.shift()
    if (created === undefined) return
    queue.advance(nowMs)
    for (const row of created.rows) queue.offer(row, CAPACITY, created.readsBefore)
  }

  function beginRead(): void {
    if (reading !== null || !queue.hasMore()) return
    const isFailing = ({ firstFailedAt }: StoredDelivery) =>
      firstFailedAt !== null && firstFailedAt >= nowMs - FAILING_WINDOW_MS
    const read = queue.beginRead()
    reading = { read, failing: pending().filter(isFailing), exclusions: null, found: null }
  }

  function search({ excludedOrders, excludedIds }: Exclusions): Read['found'] {
    const limit = random.pick([1, 3, 16])
    const due = pending()
      .filter((row) => dueAt(row) <= nowMs && !excludedIds.includes(row.id))
      .filter(({ event }) => event.orderId !== null && !excludedOrders.includes(event.orderId))
      .sort(byDue)
      .slice(0, limit)
    const first = Math.min(...pending().map(dueAt))
    return { due, nextAt: Number.isFinite(first) ? first : null, isFullPage: due.length >= limit }
  }

  function continueRead(): void {
    if (reading === null) return
    if (reading.exclusions === null) {
      if (reading.read.needsFailing) reading.read.addFailing(reading.failing, nowMs)
      reading.exclusions = reading.read.exclusions()
      return
    }
    if (reading.found === null) {
      reading.found = search(reading.exclusions)
      return
    }
    const { read, found } = reading
    reading = null
    read.addDue(found.due)
    if (found.isFullPage) read.end()
    else read.complete(found.nextAt, nowMs)
  }

  /** Whether an earlier delivery of the order must go first. */
  function isEarly({ event }: StoredDelivery): boolean {
    return pending().some(
      ({ event: other, firstFailedAt }) =>
        other.orderId === event.orderId &&
        Number(other.sequence) < Number(event.sequence) &&
        (firstFailedAt === null || nowMs < firstFailedAt + FAILING_WINDOW_MS),
    )
  }

  function take(): void {
    const isFailingFirst = isSuspended && random.chance(0.5)
    const failing = isFailingFirst ? queue.takeFailing() : null
    const taken = failing ?? queue.take() ?? (isSuspended ? queue.takeFailing() : null)
    if (taken === null) return
    const name = `${taken.event.orderId} ${taken.event.sequence}`
    if (isEarly(taken)) early.push(name)
    if (store.get(taken.id)?.state !== 'pending' || inFlight.has(taken.id)) again.push(name)
    inFlight.set(taken.id, taken)
  }

  function end(settle: (taken: StoredDelivery) => void): void {
    if (inFlight.size === 0) return
    const taken = random.pick([...inFlight.values()])
    inFlight.delete(taken.id)
    settle(taken)
  }

  /** The store keeps a result only when the delivery did not change meanwhile. */
  function result(taken: StoredDelivery, changes: Partial<StoredDelivery>): void {
    const isCurrent = store.get(taken.id)?.revision === taken.revision
    unsettled.push({ taken, saved: isCurrent ? save({ ...taken, ...changes }) : null })
    if (random.chance(0.5)) settle()
  }

  function settle(): void {
    const stored = unsettled.shift()
    if (stored !== undefined) queue.settle(stored.taken, stored.saved, nowMs)
  }

  const succeed = () => end((taken) => result(taken, { state: 'delivered', nextAt: null }))
  const fail = () =>
    end((taken) => {
      const firstFailedAt = taken.firstFailedAt ?? nowMs
      result(taken, { firstFailedAt, nextAt: nowMs + RETRY_MS })
    })
  const putBack = () => end((taken) => queue.putBack(taken))

  function pass(): void {
    nowMs += random.pick([1, 1_000, RETRY_MS, FAILING_WINDOW_MS])
    if (queue.wakeAt() <= nowMs) queue.advance(nowMs)
  }

  function toggleBreaker(): void {
    isSuspended = !isSuspended
    if (isSuspended) queue.suspend()
    else queue.resume(nowMs)
  }

  /** The fan-out offers what it created before it reads a removal. */
  function forget(): void {
    while (unoffered.length > 0) offer()
    const orderId = random.pick(ORDERS)
    for (const row of pending()) {
      if (row.event.orderId === orderId) save({ ...row, state: 'canceled', nextAt: null })
    }
    queue.forget(orderId)
  }

  const often = [
    create,
    offer,
    beginRead,
    continueRead,
    continueRead,
    take,
    take,
    take,
    succeed,
    settle,
  ]
  const seldom = [fail, putBack, pass, toggleBreaker, forget]
  const rare = [() => queue.trim(random.between(0, CAPACITY)), queue.reread, queue.reset]

  return {
    early,
    again,
    run() {
      for (let step = 0; step < STEPS; step += 1) {
        const steps = random.chance(0.75) ? often : random.chance(0.9) ? seldom : rare
        random.pick(steps)()
      }
    },
    /** From now on every attempt succeeds. Returns what is never delivered. */
    heal(): string[] {
      if (isSuspended) toggleBreaker()
      for (let round = 0; round < 400; round += 1) {
        for (const step of [
          offer,
          beginRead,
          ...Array(3).fill(continueRead),
          take,
          succeed,
          settle,
        ])
          step()
        nowMs += RETRY_MS
        if (queue.wakeAt() <= nowMs) queue.advance(nowMs)
      }
      return pending().map(({ id }) => id)
    },
  }
}

describe('random walks of a queue, its store and its receivers', () => {
  it('no delivery overtakes an earlier one of its order, is sent after its end, or is left', () => {
    for (let seed = 1; seed <= WALKS; seed += 1) {
      const walked = walk(seed)
      walked.run()
      const left = walked.heal()
      expect({ seed, left, early: walked.early, again: walked.again }).toEqual({
        seed,
        left: [],
        early: [],
        again: [],
      })
    }
  })
})
