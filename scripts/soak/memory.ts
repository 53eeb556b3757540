import { readMetric } from '../../test/harness/processes/service.ts'

/** The memory of a process, in bytes. */
export interface Memory {
  resident: number
  heapUsed: number
  /** Buffers outside of the heap. */
  external: number
  /** Number of files and sockets; NaN on systems that do not report it. */
  openFiles: number
}

/** Reads the text of `/metrics`. */
export function readMemory(metrics: string): Memory {
  const value = (name: string) => readMetric(metrics, name)
  return {
    resident: value('process_resident_memory_bytes'),
    heapUsed: value('nodejs_heap_size_used_bytes'),
    external: value('nodejs_external_memory_bytes'),
    openFiles: value('process_open_fds'),
  }
}

/**
 * The minimum of each sample. The heap grows until the next garbage collection, and resident memory
 * follows it, so only the minimum shows what the process keeps.
 */
export function leastOf(samples: readonly Memory[]): Memory {
  const least = (name: keyof Memory) => Math.min(...samples.map((sample) => sample[name]))
  return {
    resident: least('resident'),
    heapUsed: least('heapUsed'),
    external: least('external'),
    openFiles: least('openFiles'),
  }
}

/** The growth from one value to the next, by least squares. NaN for fewer than two values. */
export function slope(values: readonly number[]): number {
  const mean = (numbers: readonly number[]) =>
    numbers.reduce((sum, number) => sum + number, 0) / numbers.length
  const middle = (values.length - 1) / 2
  const average = mean(values)
  const covariance = mean(values.map((value, at) => (at - middle) * (value - average)))
  return covariance / mean(values.map((_, at) => (at - middle) ** 2))
}
