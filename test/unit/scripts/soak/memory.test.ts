import { expect, it } from 'vitest'
import { leastOf, readMemory, slope } from '../../../../scripts/soak/memory.ts'

it.each([
  ['that stay', [300, 300, 300], 0],
  ['that grow', [300, 301, 302, 303], 1],
  ['that shrink', [303, 301, 299], -2],
  ['that oscillate around a level', [300, 304, 304, 300], 0],
])('the slope of values %s is that of their regression line', (_how, values, expected) => {
  expect(slope(values)).toBeCloseTo(expected)
})

it('the slope of one value is undefined', () => {
  expect(slope([300])).toBeNaN()
})

it('the minimum of a minute is computed for each kind of memory', () => {
  const minute = [
    { resident: 300, heapUsed: 90, external: 7, openFiles: 30 },
    { resident: 310, heapUsed: 40, external: 9, openFiles: 28 },
  ]
  expect(leastOf(minute)).toEqual({ resident: 300, heapUsed: 40, external: 7, openFiles: 28 })
})

it('the memory is read from the metrics of a process', () => {
  const metrics = [
    '# HELP process_resident_memory_bytes Resident memory size in bytes.',
    'process_resident_memory_bytes 3.5e8',
    'nodejs_heap_size_total_bytes 99',
    'nodejs_heap_size_used_bytes 41000000',
    'nodejs_external_memory_bytes 17000000',
  ].join('\n')
  expect(readMemory(metrics)).toEqual({
    resident: 350_000_000,
    heapUsed: 41_000_000,
    external: 17_000_000,
    openFiles: Number.NaN,
  })
})
