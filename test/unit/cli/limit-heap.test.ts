import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const LIMIT_HEAP = fileURLToPath(new URL('../../../src/cli/limit-heap.ts', import.meta.url))
/** As in the Docker image, with the same room for every machine. */
const FLAGS = ['--max-semi-space-size=2', '--max-old-space-size=4096', '--input-type=module']

/** Keeps 40 MB, replaces them ten times, and prints the greatest size of the heap. */
const PROGRAM = `
  const kept = []
  let peak = 0
  for (let turn = 0; turn < 100_000; turn += 1) {
    kept[turn % 10_000] = Array.from({ length: 500 }, (_, at) => at)
    if (turn % 1_000 === 0) peak = Math.max(peak, process.memoryUsage().heapUsed)
  }
  console.log(peak)
`

/** The peak of a process that starts with these settings. */
async function peakOf(config: { opensearchUrls?: readonly string[] }): Promise<number> {
  const limit = `import { limitHeap } from ${JSON.stringify(LIMIT_HEAP)}; limitHeap(${JSON.stringify(config)});`
  const args = [...FLAGS, '-e', limit + PROGRAM]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return Number(stdout)
}

describe('limitHeap', () => {
  it('limits the heap of a process that has started, with OpenSearch alone', async () => {
    const embedded = await peakOf({})
    const limited = await peakOf({ opensearchUrls: ['http://127.0.0.1:9200'] })
    expect(limited).toBeLessThan(0.7 * embedded)
  })
})
