import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { type DemoOptions, demoOrders } from '../src/demo/demo-orders.ts'
import { parseInstant } from '../src/lib/instant.ts'

const USAGE = `usage: npm run -s demo-orders -- COUNT [--seed N] [--until INSTANT]
  COUNT            how many demo orders to write, one JSON object a line
  --seed N         0 to 4294967295 (default 1): the same seed gives the same orders
  --until INSTANT  when the demo's "now" is, such as 2026-03-01T12:00:00Z (default: now)
`
const MAX_32_BITS = 2 ** 32 - 1
const CHUNK_LENGTH = 64 * 1024

class UsageError extends Error {}

try {
  const options = readOptions(process.argv.slice(2))
  await pipeline(chunksOfLines(options), process.stdout)
} catch (error) {
  if (error instanceof UsageError) {
    process.stderr.write(`${error.message}\n${USAGE}`)
    process.exitCode = 2
  } else if (!isClosedPipe(error)) {
    throw error
  }
}

function readOptions(args: string[]): DemoOptions {
  const { values, positionals } = parseOrExplain(args)
  const [count, ...rest] = positionals
  if (count === undefined || rest.length > 0) throw new UsageError('expected one COUNT')
  return {
    count: readInteger('COUNT', count),
    seed: readInteger('--seed', values.seed),
    until: values.until === undefined ? Date.now() : readInstant(values.until),
  }
}

function parseOrExplain(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: { seed: { type: 'string', default: '1' }, until: { type: 'string' } },
    })
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

function readInteger(name: string, text: string): number {
  const number = Number(text)
  if (!/^\d+$/.test(text) || number > MAX_32_BITS) {
    throw new UsageError(`${name} must be an integer from 0 to ${MAX_32_BITS}, not "${text}"`)
  }
  return number
}

function readInstant(text: string): number {
  const instant = parseInstant(text)
  if (typeof instant === 'string') {
    throw new UsageError(`--until must be a date-time with a zone, not "${text}" (${instant})`)
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
