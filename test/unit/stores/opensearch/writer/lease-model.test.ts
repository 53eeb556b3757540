import fc from 'fast-check'
import { expect, it } from 'vitest'
import { LeaseLost } from '../../../../../src/indexing/writing/order-index.ts'
import { Unavailable } from '../../../../../src/lib/unavailable.ts'
import {
  createMemoryLeaseDocument,
  LONG_LEASE_MS,
  type LostAnswer,
  type MemoryLeaseDocument,
} from './memory-lease.ts'
import { createWriters } from './writers.ts'

const NOON = Date.parse('2026-03-01T12:00:00Z')
const DAY_MS = 86_400_000

type Writer = Awaited<ReturnType<ReturnType<typeof createWriters>['startWriter']>>

/** Writers of one document, the last of whom holds the lease; a writer that ended gives no stamp. */
interface World {
  document: MemoryLeaseDocument
  writers: { writer: Writer; stamps: number[]; hasEnded: boolean }[]
  takeOver(clockMs: number): Promise<void>
}
type Step = (world: World) => unknown

const stampOf = (at: number) => async (world: World) => {
  const entry = world.writers.at(at)
  if (entry && !entry.hasEnded) entry.stamps.push(await entry.writer.lease.nextStamp())
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
const loseAnswers = fc
  .array(fc.constantFrom<LostAnswer>('arrived', 'did not arrive'), { maxLength: 3 })
  .map(
    (answers): Step =>
      ({ document }) =>
        document.loseAnswers(...answers),
  )

const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: stamp },
    { weight: 3, arbitrary: passTime },
    { weight: 2, arbitrary: oldWriterWakesUp },
    fence,
    release,
    takeOver,
    loseAnswers,
  ),
  { minLength: 1, maxLength: 60 },
)

/** The stamps that the writers gave, from the first writer to the last. */
async function stampsOf(all: readonly Step[]): Promise<number[]> {
  const { startWriter, end } = createWriters()
  const world: World = {
    document: createMemoryLeaseDocument(),
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
      if (!(error instanceof Unavailable || error instanceof LeaseLost)) throw error
    }
  }
  await end()
  return world.writers.flatMap(({ stamps }) => stamps)
}

it('the stamps of all writers rise from each to the next, whatever clocks show and answers are lost', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const stamps = await stampsOf(all)
      expect(stamps.every(Number.isSafeInteger)).toBe(true)
      expect(stamps).toEqual([...new Set(stamps)].sort((one, other) => one - other))
    }),
    { numRuns: 500 },
  )
})
