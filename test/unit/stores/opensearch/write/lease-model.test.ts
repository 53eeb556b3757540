import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ClockSkewError, MAX_CLOCK_SKEW_MS } from '../../../../../src/indexing/writer/clock-skew.ts'
import { LeaseLostError } from '../../../../../src/indexing/writer/order-index.ts'
import { Unavailable } from '../../../../../src/lib/unavailable.ts'
import { createLeaseHolders } from './lease-holders.ts'
import {
  createMemoryLeaseDocument,
  LONG_LEASE_MS,
  type LostResponse,
  type MemoryLeaseDocument,
} from './memory-lease.ts'

const NOON = Date.parse('2026-03-01T12:00:00Z')
const DAY_MS = 86_400_000

type Writer = Awaited<ReturnType<ReturnType<typeof createLeaseHolders>['startWriter']>>

/** Writers of one document, the last of whom holds the lease; a writer that ended gives no stamp. */
interface World {
  document: MemoryLeaseDocument
  /** What the clock of the store shows. */
  store: { nowMs: number }
  /** How far a stamp or a ceiling was ahead of that at most, when it was given. */
  ahead: { stampMs: number; ceilingMs: number }
  writers: { writer: Writer; stamps: number[]; hasEnded: boolean }[]
  takeOver(clockMs: number): Promise<void>
}
type Step = (world: World) => unknown

const stampOf = (at: number) => async (world: World) => {
  const entry = world.writers.at(at)
  if (entry === undefined || entry.hasEnded) return
  const given = await entry.writer.lease.nextWriteTimestamp()
  entry.stamps.push(given)
  world.ahead.stampMs = Math.max(world.ahead.stampMs, given - world.store.nowMs)
}
const current = ({ writers }: World) => writers.at(-1)

const always = (step: Step) => fc.constant(step)
const stamp = always(stampOf(-1))
const oldWriterWakesUp = always(stampOf(-2))
const fence = always((world) => current(world)?.writer.lease.fence())
const release = always((world) => {
  const entry = current(world)
  if (entry === undefined) return
  entry.hasEnded = true // Whatever becomes of its release.
  return entry.writer.lease.release()
})
const takeOver = fc.integer({ min: NOON - DAY_MS, max: NOON + DAY_MS }).map(
  (clockMs): Step =>
    (world) =>
      world.takeOver(clockMs),
)
const passTime = fc
  .oneof(
    fc.integer({ min: 0, max: 3 }),
    fc.integer({ min: -2 * LONG_LEASE_MS, max: 2 * LONG_LEASE_MS }),
    fc.integer({ min: -DAY_MS, max: DAY_MS }),
  )
  .map(
    (ms): Step =>
      (world) => {
        const entry = current(world)
        if (entry) entry.writer.clock.nowMs += ms
      },
  )
const passStoreTime = fc
  .oneof(
    fc.integer({ min: 0, max: 10 }),
    fc.integer({ min: 0, max: 2 * LONG_LEASE_MS }),
    fc.integer({ min: -2 * MAX_CLOCK_SKEW_MS, max: DAY_MS }), // It may be set, too.
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
    { weight: 4, arbitrary: stamp },
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

/** The stamps that the writers gave, from the first writer to the last, and how far ahead they came. */
async function stampsOf(
  all: readonly Step[],
): Promise<{ stamps: number[]; ahead: World['ahead'] }> {
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
  const world: World = {
    document,
    store: storeClock.clock,
    ahead,
    writers: [],
    async takeOver(clockMs) {
      const writer = await startWriter(world.document, clockMs)
      world.writers.push({ writer, stamps: [], hasEnded: false })
    },
  }
  await world.takeOver(NOON)
  for (const step of all) {
    try {
      await step(world)
    } catch (error) {
      const isExpected = [Unavailable, LeaseLostError, ClockSkewError].some(
        (kind) => error instanceof kind,
      )
      if (!isExpected) throw error
    }
  }
  await end()
  return { stamps: world.writers.flatMap(({ stamps }) => stamps), ahead }
}

it('the stamps of all writers rise from each to the next, never far ahead of the store, whatever clocks show and answers are lost', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const { stamps, ahead } = await stampsOf(all)
      expect(stamps.every(Number.isSafeInteger)).toBe(true)
      expect(stamps).toEqual([...new Set(stamps)].sort((one, other) => one - other))
      expect(ahead.stampMs).toBeLessThanOrEqual(MAX_CLOCK_SKEW_MS)
      expect(ahead.ceilingMs).toBeLessThanOrEqual(MAX_CLOCK_SKEW_MS + LONG_LEASE_MS / 2)
    }),
    { numRuns: 500 },
  )
})
