import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../../src/lib/unavailable.ts'
import {
  type AcquireOptions,
  acquireLease,
} from '../../../../../src/stores/opensearch/writer/acquire-lease.ts'
import { type Lease, LeaseLost } from '../../../../../src/stores/opensearch/writer/lease.ts'
import {
  createMemoryLeaseDocument,
  createRecordingFence,
  LONG_LEASE_MS,
  leaseRecord,
  type MemoryLeaseDocument,
} from './memory-lease.ts'

const NOON = Date.parse('2026-03-01T12:00:00Z')

const held: Lease[] = []
afterEach(async () => {
  for (const lease of held.splice(0)) await lease.release().catch(() => {})
})

/** A writer with a clock of its own, which takes over at once. */
async function startWriter(document: MemoryLeaseDocument, startMs: number) {
  const clock = { nowMs: startMs }
  const last = document.record()
  if (last) document.put({ ...last, lease_ms: 0 }) // So that nobody has to wait for its end.
  const options: AcquireOptions = {
    document,
    fence: createRecordingFence(),
    leaseMs: LONG_LEASE_MS,
    clock: () => clock.nowMs,
    firstTarget: 'orders-v1',
    onDelay() {},
  }
  const lease = await acquireLease(options)
  held.push(lease)
  return { clock, lease }
}

describe('the stamp of a bulk', () => {
  it('is the time', async () => {
    const { clock, lease } = await startWriter(createMemoryLeaseDocument(), NOON)
    expect(await lease.nextStamp()).toBe(NOON)
    clock.nowMs += 1_500
    expect(await lease.nextStamp()).toBe(NOON + 1_500)
  })

  it('is a whole number of milliseconds', async () => {
    const { lease } = await startWriter(createMemoryLeaseDocument(), NOON + 0.9)
    expect(await lease.nextStamp()).toBe(NOON)
  })

  it('is one more than the last while the clock stands still, or was set back', async () => {
    const { clock, lease } = await startWriter(createMemoryLeaseDocument(), NOON)
    await lease.nextStamp()
    expect(await lease.nextStamp()).toBe(NOON + 1)
    clock.nowMs -= 3_600_000
    expect(await lease.nextStamp()).toBe(NOON + 2)
  })

  it('is above the ceiling that the writer before left, whatever the clock shows', async () => {
    const document = createMemoryLeaseDocument(leaseRecord({ stamp_ceiling: NOON + 9_000 }))
    const { lease } = await startWriter(document, NOON)
    expect(await lease.nextStamp()).toBe(NOON + 9_001)
  })

  it('just after the last one of a writer that handed its lease back is free', async () => {
    const document = createMemoryLeaseDocument()
    const { lease } = await startWriter(document, NOON)
    const last = await lease.nextStamp()
    await lease.release()
    const { lease: next } = await startWriter(document, NOON - 1_000)
    expect(await next.nextStamp()).toBe(last + 1)
  })

  it('asks the document only where the clock has come to its ceiling', async () => {
    const document = createMemoryLeaseDocument()
    const { clock, lease } = await startWriter(document, NOON)
    const before = document.written.length
    for (let stamp = 0; stamp < 1_000; stamp++) await lease.nextStamp()
    expect(document.written).toHaveLength(before)
    clock.nowMs += 2 * LONG_LEASE_MS
    await lease.nextStamp()
    expect(document.written).toHaveLength(before + 1)
  })

  it('is never above the ceiling that was confirmed, nor that far below it that it lasts for ever', async () => {
    const document = createMemoryLeaseDocument()
    const { lease } = await startWriter(document, NOON)
    const ceiling = document.record()?.stamp_ceiling ?? 0
    expect(ceiling).toBeGreaterThan(NOON)
    expect(ceiling).toBeLessThanOrEqual(NOON + LONG_LEASE_MS)
    expect(await lease.nextStamp()).toBeLessThanOrEqual(ceiling)
  })
})

/** What happens to writers, one thing after the other. */
const happenings = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('stamp' as const) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('time passes' as const),
        ms: fc.oneof(
          fc.integer({ min: 0, max: 3 }),
          fc.integer({ min: -2 * LONG_LEASE_MS, max: 2 * LONG_LEASE_MS }),
          fc.integer({ min: -86_400_000, max: 86_400_000 }),
        ),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('an old writer wakes up' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('fence' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('release' as const) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('takeover' as const),
        clockMs: fc.integer({ min: NOON - 86_400_000, max: NOON + 86_400_000 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('answers are lost' as const),
        answers: fc.array(fc.constantFrom('arrived' as const, 'did not arrive' as const), {
          maxLength: 3,
        }),
      }),
    },
  ),
  { minLength: 1, maxLength: 60 },
)

describe('the stamps of all writers, whatever their clocks show and whatever is lost', () => {
  it('rise from each to the next, and those of a writer are above all of the ones before it', async () => {
    await fc.assert(
      fc.asyncProperty(happenings, async (all) => {
        const document = createMemoryLeaseDocument()
        const writers = [{ ...(await startWriter(document, NOON)), stamps: [] as number[] }]
        const stamp = async (writer: (typeof writers)[number] | undefined) => {
          const given = await writer?.lease.nextStamp()
          if (given === undefined) return
          writer?.stamps.push(given)
          expect(Number.isSafeInteger(given)).toBe(true)
        }

        for (const happening of all) {
          const current = writers.at(-1)
          await Promise.resolve()
            .then(async () => {
              if (happening.kind === 'stamp') await stamp(current)
              if (happening.kind === 'an old writer wakes up') await stamp(writers.at(-2))
              if (happening.kind === 'fence') await current?.lease.fence()
              if (happening.kind === 'time passes' && current) current.clock.nowMs += happening.ms
              if (happening.kind === 'answers are lost') document.loseAnswers(...happening.answers)
              if (happening.kind === 'release') await current?.lease.release()
              if (happening.kind === 'release' || happening.kind === 'takeover') {
                const clockMs = 'clockMs' in happening ? happening.clockMs : NOON
                writers.push({ ...(await startWriter(document, clockMs)), stamps: [] })
              }
            })
            .catch((error) => {
              if (!(error instanceof Unavailable || error instanceof LeaseLost)) throw error
            })
        }

        const stamps = writers.flatMap((writer) => writer.stamps)
        expect(stamps).toEqual([...new Set(stamps)].sort((one, other) => one - other))
        for (const { lease } of writers) await lease.release().catch(() => {})
        held.length = 0
      }),
      { numRuns: 500 },
    )
  })
})
