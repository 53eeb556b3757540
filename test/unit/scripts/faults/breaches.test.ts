import { describe, expect, it } from 'vitest'
import { breachesOf } from '../../../../scripts/faults/breaches.ts'
import type { Matrix } from '../../../../scripts/faults/matrix.ts'
import { createResponseStats } from '../../../harness/traffic/response-stats.ts'

/** A run without a breach, with one fault. */
function matrixOf(longestMs: number, healthyLongestMs = 20): Matrix {
  return {
    plan: {
      rate: 1,
      warmMs: 1,
      faultMs: 1,
      restMs: 1,
      requestDeadlineMs: 2_500,
      searchDeadlineMs: 2_000,
    },
    latestMs: 12_500,
    healthy: createResponseStats(),
    healthyLongestMs,
    cells: [
      {
        service: 'OpenSearch',
        fault: 'black hole',
        stats: createResponseStats(),
        alone: 0,
        rightAfterMs: 0,
        leftOpen: 0,
        longestMs,
      },
    ],
    backAgain: { OpenSearch: createResponseStats(), Redis: createResponseStats() },
    walked: 1,
    turnedAway: 0,
    connectionsLeft: { OpenSearch: 0, Redis: 1 },
    openFiles: [1, 1],
  }
}

describe('the deadline of every response', () => {
  it.each([20, 2_500, 3_000])(
    'the deadline is met when the longest response took %d ms of 2500',
    (longestMs) => {
      expect(breachesOf(matrixOf(longestMs))).toEqual([])
    },
  )

  it('the deadline is breached by a response half a second over it', () => {
    expect(breachesOf(matrixOf(3_001))).toEqual([
      'OpenSearch black hole: a response took 3001 ms of 2500',
    ])
  })

  it('the deadline applies without a fault too', () => {
    expect(breachesOf(matrixOf(20, 4_000))).toEqual(['no fault: a response took 4000 ms of 2500'])
  })

  it('the deadline cannot be checked without a log', () => {
    expect(breachesOf(matrixOf(0))).toEqual([
      'OpenSearch black hole: the service logged no response',
    ])
  })
})
