import { beforeAll, expect, it } from 'vitest'
import { breachesOf } from '../../scripts/faults/breaches.ts'
import { type Matrix, runMatrix } from '../../scripts/faults/matrix.ts'
import { FIRST_START_MS } from '../harness/services/opensearch/opensearch.ts'

/** So long that a busy machine responds in time where there is no fault. */
const REQUEST_DEADLINE_MS = 6_000
/** How much later than the deadline a busy machine may respond. */
const BUSY_MS = 5_000

/** `npm run -s faults` runs longer and writes its result to openapi/fault-matrix.md. */
let matrix: Matrix
beforeAll(async () => {
  matrix = await runMatrix({
    rate: 25,
    warmMs: 3_000,
    faultMs: 1_000,
    restMs: 300,
    requestDeadlineMs: REQUEST_DEADLINE_MS,
    searchDeadlineMs: 4_800,
    signal: AbortSignal.timeout(FIRST_START_MS),
    log() {},
  })
}, FIRST_START_MS)

it('every response is correct, in time and as described during OpenSearch and Redis faults', () => {
  const plan = { ...matrix.plan, requestDeadlineMs: REQUEST_DEADLINE_MS + BUSY_MS }
  expect(breachesOf({ ...matrix, plan })).toEqual([])
})

/** The faults with a deterministic outcome. */
const TOTAL = ['down (refused)', 'black hole', 'reset after 0 B']

it('the matrix shows 503 without OpenSearch and local decisions without Redis', () => {
  const total = matrix.cells.filter(({ fault }) => TOTAL.includes(fault))
  const harmless = total.filter(({ service, stats, alone }) => {
    return service === 'OpenSearch' ? !stats.statuses.has(503) : alone === 0
  })
  expect([total.length, harmless.map(({ service, fault }) => `${service} ${fault}`)]).toEqual([
    2 * TOTAL.length,
    [],
  ])
})
