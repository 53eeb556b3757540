import { createRandom } from '../../../../src/demo/random.ts'
import type { FindSubscribers, OrderIndex } from '../../../../src/indexing/writer/order-index.ts'
import type { Clock } from '../../../../src/lib/clock.ts'
import type { EventRecord } from '../../../../src/webhooks/events/event-record.ts'
import {
  checkAtRest,
  checkDurable,
  type ReadView,
  type SeenRecord,
} from './checks/check-records.ts'
import { createTrace } from './checks/trace.ts'
import { createViolations, reportViolations, type Violation } from './checks/violation.ts'
import { createCrashingWriters, type MutateIndex } from './writing/crashing-writers.ts'
import { readVersionRecords } from './writing/order-writing.ts'
import { createRecording } from './writing/recording.ts'
import { createSourceHistory } from './writing/source-history.ts'

/** A store of orders and their event records. */
export interface RecordingStore {
  /** Opens the write side. `clock`: epoch milliseconds. */
  openIndex(clock: Clock, subscribers: FindSubscribers): Promise<OrderIndex>
  /** Whether it writes a bulk as a whole or not at all. */
  isAtomic: boolean
  readView: ReadView
  /** All event records. */
  eventRecords(): Promise<readonly EventRecord[]>
}

export interface WalkResult {
  violations: readonly Violation[]
  /** The number of event records. */
  records: number
  crashes: number
  /** See {@link reportViolations}. */
  report: string
}

/** The accounts of a walk. `acc_late` gets and loses endpoints during it. */
const STEADY_ACCOUNTS = ['acc_steady', 'acc_other']
const LATE_ACCOUNT = 'acc_late'
const ACCOUNTS = [...STEADY_ACCOUNTS, LATE_ACCOUNT, 'acc_without']

const START_MS = Date.parse('2026-03-01T12:00:00Z')
const STEPS = 40

/** Writes a random history by crashing writers, and checks invariants 1 to 3. */
export async function walkRecording(
  seed: number,
  store: RecordingStore,
  mutate?: MutateIndex,
): Promise<WalkResult> {
  const random = createRandom(seed, 17, 0)
  let nowMs = START_MS
  const clock = () => nowMs
  const trace = createTrace(clock)
  const violations = createViolations()
  const prefix = `ord_${seed}_`
  const history = createSourceHistory(random, { accounts: ACCOUNTS, orderCount: 3, prefix })
  const subscribed = new Set(STEADY_ACCOUNTS)
  let crashes = 0
  const writers = createCrashingWriters({
    open: () => store.openIndex(clock, async () => subscribed),
    clock,
    random,
    isAtomic: store.isAtomic,
    ...(mutate && { mutate }),
    onCrash(orderIds, written) {
      crashes += 1
      trace.note(orderIds, `the writer dies and has written ${written}`)
    },
  })
  const seen = new Map<string, SeenRecord>()
  const recording = createRecording({
    random,
    clock,
    history,
    writers,
    trace,
    crashChance: 0.4,
    hasSilentWrites: random.chance(0.4),
    onWritten: checkNewRecords,
  })
  const walk = {
    history,
    violations,
    steadyAccounts: STEADY_ACCOUNTS,
    recording,
  }
  /** Reads the records since the last call. */
  async function checkNewRecords(): Promise<void> {
    const records = (await store.eventRecords()).filter(({ orderId }) => orderId.startsWith(prefix))
    for (const record of records) {
      const key = `${record.orderId} ${record.version} ${record.events[0]?.sequence}`
      if (seen.has(key)) continue
      seen.set(key, { ...record, seenAt: recording.writeCount() })
      const events = record.events.map(
        ({ sequence, type, accountIds }) => `${sequence} ${type} [${accountIds.join(', ')}]`,
      )
      trace.note([record.orderId], `records v${record.version}: ${events.join(', ')}`)
      await checkDurable(walk, record, store.readView)
    }
  }

  for (let step = 0; step < STEPS; step++) {
    nowMs += random.pick([0, 1, 1_000, 60_000])
    const chance = random.next()
    if (chance < 0.45) recording.change()
    else if (chance < 0.9) await recording.write()
    else if (chance < 0.95) await recording.replaceWriter()
    else {
      const hadEndpoint = subscribed.delete(LATE_ACCOUNT)
      if (!hadEndpoint) subscribed.add(LATE_ACCOUNT)
      trace.note([], `${LATE_ACCOUNT} ${hadEndpoint ? 'loses its' : 'gets an'} endpoint`)
    }
  }
  await recording.settle()
  const records = [...seen.values()]
  await writers.replace()
  const index = await store.openIndex(clock, async () => new Set())
  const versionRecords = await readVersionRecords(index, history.orderIds())
  for (const orderId of history.orderIds()) {
    const ofOrder = records.filter((record) => record.orderId === orderId)
    checkAtRest(walk, orderId, ofOrder, versionRecords.get(orderId))
  }
  await writers.replace()

  return {
    violations: violations.all(),
    records: records.length,
    crashes,
    report: reportViolations(seed, violations.all(), trace),
  }
}
