import { describe, expect, it } from 'vitest'
import type { Sample } from '../../../scripts/bench/measuring/race.ts'
import { readStat, treeMicros } from '../../../scripts/bench/workers/process-tree.ts'
import {
  mistold,
  renderWorkers,
  workersCosts,
  workersFigures,
} from '../../../scripts/bench/workers/report.ts'

function sample(perSecond: number, micros: number): Sample {
  const cpu = { openSearch: 0, redis: 0, api: micros, bench: 1 }
  const residentBytes = 100 * 2 ** 20
  return { answers: 100, perSecond, p50Ms: 1, p99Ms: 2, failures: {}, cpu, residentBytes }
}

const result = {
  name: 'small created 20',
  samples: {
    'workers 1': [sample(100, 200), sample(50, 400)],
    'workers 2': [sample(150, 220), sample(75, 440)],
  },
}

describe('the figures of two workers', () => {
  it('are compared with those of one within each round', () => {
    const { ratePerOne, cpuPerOne } = workersFigures(result)
    expect(ratePerOne).toBeCloseTo(1.5)
    expect(cpuPerOne).toBeCloseTo(1.1)
  })

  it('are kept as costs', () => {
    const costs = workersCosts({ results: [result], told: {} })
    expect(costs).toEqual({ 'µs 2÷1 workers small created 20': expect.closeTo(1.1) })
  })

  it('say nothing where the metrics leave out a process', () => {
    const told = { 'workers 1': 1.02, 'workers 2': 0.55 }
    expect(mistold({ results: [result], told })).toEqual([
      '! workers 2: /metrics tells 0.55 of the CPU time that its processes used',
    ])
    expect(renderWorkers({ results: [result], told })).toContain('workers 1 1.02, workers 2 0.55')
  })

  it('stand where the kernel tells nothing', () => {
    expect(mistold({ results: [result], told: { 'workers 1': Number.NaN } })).toEqual([])
  })
})

describe('the CPU time of a tree of processes', () => {
  it('is read past a name with spaces and parentheses', () => {
    const line = `42 (node (1) a) S 7 42 42 0 -1 4194560 5 0 0 0 150 50 9 9 20 0 11 0 ${'0 '.repeat(30)}`
    expect(readStat(line)).toEqual({ pid: 42, parent: 7, cpuMicros: 2_000_000 })
  })

  it('is that of the process and all of its descendants, and of no other', () => {
    const processes = [
      { pid: 1, parent: 0, cpuMicros: 1_000 },
      { pid: 2, parent: 1, cpuMicros: 100 },
      { pid: 3, parent: 2, cpuMicros: 20 },
      { pid: 4, parent: 2, cpuMicros: 3 },
      { pid: 5, parent: 1, cpuMicros: 5_000 },
    ]
    expect(treeMicros(processes, 2)).toBe(123)
  })
})
