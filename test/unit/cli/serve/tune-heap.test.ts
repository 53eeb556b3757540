import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const TUNE_HEAP = fileURLToPath(new URL('../../../../src/cli/serve/tune-heap.ts', import.meta.url))
/** As in the Docker image, with the same room for every machine. */
const FLAGS = ['--max-semi-space-size=2', '--max-old-space-size=4096', '--input-type=module']

/** Keeps 40 MB, replaces them ten times, and prints the greatest size of the heap. */
const REPLACE = `
  const kept = []
  let peak = 0
  for (let turn = 0; turn < 100_000; turn += 1) {
    kept[turn % 10_000] = Array.from({ length: 500 }, (_, at) => at)
    if (turn % 1_000 === 0) peak = Math.max(peak, process.memoryUsage().heapUsed)
  }
  console.log(peak)
`

/**
 * Creates objects that all live long, then some more at a time, and prints how many bytes of those
 * are old at once: the median, since a collection changes that too. V8 judges each place in the
 * code by itself, and not always alike, so this is the greatest figure of several.
 */
const SURVIVE = `
  import { getHeapSpaceStatistics } from 'node:v8'
  const kept = new Array(300_000)
  const oldBytes = () =>
    getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space').space_used_size
  const figures = Array.from({ length: 6 }, () => {
    const create = (0, eval)('(at) => ({ at, list: [at] })')
    for (let at = 0; at < 3_000_000; at += 1) kept[at % kept.length] = create(at)
    const growths = Array.from({ length: 11 }, () => {
      const before = oldBytes()
      for (let at = 0; at < 2_000; at += 1) kept[at] = create(at)
      return oldBytes() - before
    })
    return growths.sort((one, other) => one - other)[5]
  })
  console.log(Math.max(...figures))
`

/** What the program prints in a process that starts with these settings. */
async function run(program: string, config: { opensearchUrls?: readonly string[] }) {
  const tune = `import { tuneHeap } from ${JSON.stringify(TUNE_HEAP)}; tuneHeap(${JSON.stringify(config)});`
  const { stdout } = await promisify(execFile)(process.execPath, [...FLAGS, '-e', tune + program])
  return Number(stdout)
}

describe('tuneHeap', () => {
  it('tuneHeap limits the heap of a process that has started, with OpenSearch alone', async () => {
    const embedded = await run(REPLACE, {})
    const limited = await run(REPLACE, { opensearchUrls: ['http://127.0.0.1:9200'] })
    expect(limited).toBeLessThan(0.7 * embedded)
  })

  it('tuneHeap creates every object in the young generation, whatever survived before', async () => {
    expect(await run(SURVIVE, {})).toBeLessThan(20_000)
  })
})
