import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { type DemoOptions, demoOrders } from '../src/demo/demo-orders.ts'
import { parseInstant } from '../src/lib/instant.ts'
import { readersOf, UsageError } from './usage.ts'

const USAGE = `usage: npm run -s demo-orders -- COUNT [--seed N] [--until INSTANT]
  COUNT            how many demo orders to write, one JSON object a line
  --seed N         0 to 4294967295 (default 1): the same seed gives the same orders
  --until INSTANT  when the demo's "now" is, such as 2026-03-01T12:00:00Z (default: now)
`
const MAX_32_BITS = 2 ** 32 - 1
const CHUNK_LENGTH = 64 * 1024

const { parsed, readInteger, refuse } = readersOf(USAGE)

try {
  const options = readOptions(process.argv.slice(2))
  await pipeline(chunksOfLines(options), process.stdout)
} catch (error) {
  if (error instanceof UsageError) {
    process.stderr.write(error.message)
    process.exitCode = 2
  } else if (!isClosedPipe(error)) {
    throw error
  }
}

function readOptions(args: string[]): DemoOptions {
  const { values, positionals } = parsed(() =>
    parseArgs({
      args,
      allowPositionals: true,
      options: { seed: { type: 'string', default: '1' }, until: { type: 'string' } },
    }),
  )
  const [count, ...rest] = positionals
  if (count === undefined || rest.length > 0) return refuse('expected one COUNT')
  return {
    count: readInteger('COUNT', count, 0, MAX_32_BITS),
    seed: readInteger('--seed', values.seed, 0, MAX_32_BITS),
    until: values.until === undefined ? Date.now() : readInstant(values.until),
  }
}

function readInstant(text: string): number {
  const instant = parseInstant(text)
  if (typeof instant === 'string') {
    return refuse(`--until must be a date-time with a zone, not "${text}" (${instant})`)
  }
  return instant.floorMs
}

// Lines are written in batches: one write per line costs more than generating the order.
function* chunksOfLines(options: DemoOptions): Generator<string> {
  let chunk = ''
  for (const order of demoOrders(options)) {
    chunk += `${JSON.stringify(order)}\n`
    if (chunk.length < CHUNK_LENGTH) continue
    yield chunk
    chunk = ''
  }
  if (chunk !== '') yield chunk
}

// The reader closed the pipe early, as `head` does, which is not an error.
function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE'
}
