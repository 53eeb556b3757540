/** What a process holds, in bytes. */
export interface Memory {
  resident: number
  heapUsed: number
  /** Buffers, outside of the heap. */
  external: number
  /** Not bytes: files and sockets; NaN where the system does not tell. */
  openFiles: number
}

/** Out of what `/metrics` shows. */
export function readMemory(metrics: string): Memory {
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(metrics)?.[1])
  return {
    resident: value('process_resident_memory_bytes'),
    heapUsed: value('nodejs_heap_size_used_bytes'),
    external: value('nodejs_external_memory_bytes'),
    openFiles: value('process_open_fds'),
  }
}

/**
 * The least of each over a while. The heap grows until it is collected and the resident memory follows it:
 * what is left when both are low is what is held.
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

/** By how much the values grow from one to the next, by least squares. NaN of fewer than two. */
export function slope(values: readonly number[]): number {
  const mean = (numbers: readonly number[]) =>
    numbers.reduce((sum, number) => sum + number, 0) / numbers.length
  const middle = (values.length - 1) / 2
  const average = mean(values)
  const covariance = mean(values.map((value, at) => (at - middle) * (value - average)))
  return covariance / mean(values.map((_, at) => (at - middle) ** 2))
}
