import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const LIMIT_HEAP = fileURLToPath(new URL('../../../src/cli/limit-heap.ts', import.meta.url))

/** Keeps 40 MB, replaces them many times over, and prints the greatest size of the heap. */
const PROGRAM = `
  const kept = []
  let peak = 0
  for (let turn = 0; turn < 400_000; turn += 1) {
    kept[turn % 10_000] = Array.from({ length: 500 }, (_, at) => at)
    if (turn % 1_000 === 0) peak = Math.max(peak, process.memoryUsage().heapUsed)
  }
  console.log(peak)
`

async function peakOf(program: string): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '-e',
    program,
  ])
  return Number(stdout)
}

describe('limitHeap', () => {
  it('limits the heap of a process that has started', async () => {
    const limited = `import { limitHeap } from ${JSON.stringify(LIMIT_HEAP)}; limitHeap();`
    const [without, withLimit] = [await peakOf(PROGRAM), await peakOf(limited + PROGRAM)]
    expect(withLimit).toBeLessThan(0.8 * without)
  })
})
