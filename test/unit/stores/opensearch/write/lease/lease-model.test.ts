import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  ClockSkewError,
  MAX_CLOCK_SKEW_MS,
} from '../../../../../../src/indexing/writer/clock-skew.ts'
import { LeaseLostError } from '../../../../../../src/indexing/writer/writer-errors.ts'
import { DAY_MS } from '../../../../../../src/lib/durations.ts'
import { Unavailable } from '../../../../../../src/lib/errors/unavailable.ts'
import { createLeaseHolders } from './lease-holders.ts'
import {
  createMemoryLeaseDocument,
  LONG_LEASE_MS,
  type LostResponse,
  type MemoryLeaseDocument,
} from './memory-lease.ts'

const NOON = Date.parse('2026-03-01T12:00:00Z')

type Writer = Awaited<ReturnType<ReturnType<typeof createLeaseHolders>['startWriter']>>

/** Writers of one document. The last one holds the lease; an ended one issues no timestamp. */
interface Simulation {
  document: MemoryLeaseDocument
  /** The time of the store clock. */
  store: { nowMs: number }
  /** The maximum lead of a write timestamp or ceiling over the store clock when it was issued. */
  ahead: { stampMs: number; ceilingMs: number }
  writers: { writer: Writer; timestamps: number[]; hasEnded: boolean }[]
  takeOver(clockMs: number): Promise<void>
}
type Step = (simulation: Simulation) => unknown

const writeTimestampOf = (at: number) => async (simulation: Simulation) => {
  const entry = simulation.writers.at(at)
  if (entry === undefined || entry.hasEnded) return
  const given = await entry.writer.lease.nextWriteTimestamp()
  entry.timestamps.push(given)
  simulation.ahead.stampMs = Math.max(simulation.ahead.stampMs, given - simulation.store.nowMs)
}
const current = ({ writers }: Simulation) => writers.at(-1)

const always = (step: Step) => fc.constant(step)
const writeTimestamp = always(writeTimestampOf(-1))
const oldWriterWakesUp = always(writeTimestampOf(-2))
const fence = always((simulation) => current(simulation)?.writer.lease.fence())
const release = always((simulation) => {
  const entry = current(simulation)
  if (entry === undefined) return
  entry.hasEnded = true // Whatever the outcome of its release.
  return entry.writer.lease.release()
})
const takeOver = fc.integer({ min: NOON - DAY_MS, max: NOON + DAY_MS }).map(
  (clockMs): Step =>
    (simulation) =>
      simulation.takeOver(clockMs),
)
const passTime = fc
  .oneof(
    fc.integer({ min: 0, max: 3 }),
    fc.integer({ min: -2 * LONG_LEASE_MS, max: 2 * LONG_LEASE_MS }),
    fc.integer({ min: -DAY_MS, max: DAY_MS }),
  )
  .map(
    (ms): Step =>
      (simulation) => {
        const entry = current(simulation)
        if (entry) entry.writer.clock.nowMs += ms
      },
  )
const passStoreTime = fc
  .oneof(
    fc.integer({ min: 0, max: 10 }),
    fc.integer({ min: 0, max: 2 * LONG_LEASE_MS }),
    fc.integer({ min: -2 * MAX_CLOCK_SKEW_MS, max: DAY_MS }), // The clock may also be set back.
  )
  .map(
    (ms): Step =>
      ({ store }) => {
        store.nowMs += ms
      },
  )
const loseAnswers = fc
  .array(fc.constantFrom<LostResponse>('arrived', 'did not arrive'), { maxLength: 3 })
  .map(
    (answers): Step =>
      ({ document }) =>
        document.loseResponses(...answers),
  )

const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: writeTimestamp },
    { weight: 3, arbitrary: passTime },
    { weight: 2, arbitrary: passStoreTime },
    { weight: 2, arbitrary: oldWriterWakesUp },
    fence,
    release,
    takeOver,
    loseAnswers,
  ),
  { minLength: 1, maxLength: 60 },
)

/** The write timestamps of all writers in sequence, and their maximum lead. */
async function writeTimestampsOf(
  all: readonly Step[],
): Promise<{ timestamps: number[]; ahead: Simulation['ahead'] }> {
  const { storeClock, startWriter, end } = createLeaseHolders(NOON)
  const document = createMemoryLeaseDocument()
  const ahead = { stampMs: 0, ceilingMs: 0 }
  const { replace } = document
  document.replace = (known, record) => {
    const raised = record.stamp_ceiling > (known?.record.stamp_ceiling ?? 0)
    const ceilingMs = raised ? record.stamp_ceiling - storeClock.clock.nowMs : 0
    ahead.ceilingMs = Math.max(ahead.ceilingMs, ceilingMs)
    return replace(known, record)
  }
  const simulation: Simulation = {
    document,
    store: storeClock.clock,
    ahead,
    writers: [],
    async takeOver(clockMs) {
      const writer = await startWriter(simulation.document, clockMs)
      simulation.writers.push({ writer, timestamps: [], hasEnded: false })
    },
  }
  await simulation.takeOver(NOON)
  for (const step of all) {
    try {
      await step(simulation)
    } catch (error) {
      const isExpected = [Unavailable, LeaseLostError, ClockSkewError].some(
        (kind) => error instanceof kind,
      )
      if (!isExpected) throw error
    }
  }
  await end()
  return { timestamps: simulation.writers.flatMap(({ timestamps }) => timestamps), ahead }
}

it('the write timestamps of all writers increase and stay near the store clock, whatever clocks show and responses are lost', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const { timestamps, ahead } = await writeTimestampsOf(all)
      expect(timestamps.every(Number.isSafeInteger)).toBe(true)
      expect(timestamps).toEqual([...new Set(timestamps)].sort((one, other) => one - other))
      expect(ahead.stampMs).toBeLessThanOrEqual(MAX_CLOCK_SKEW_MS)
      expect(ahead.ceilingMs).toBeLessThanOrEqual(MAX_CLOCK_SKEW_MS + LONG_LEASE_MS / 2)
    }),
    { numRuns: 500 },
  )
})
