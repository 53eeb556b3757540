import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { constants } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { onFirstSignal } from '../src/cli/signals.ts'
import { openScratch } from '../test/harness/processes/scratch.ts'
import { startService } from './bench/measuring/running-service.ts'
import { type FuzzOptions, readOptions } from './fuzz/options.ts'
import { faultsOf, tell } from './fuzz/report.ts'
import { runSchemathesis } from './fuzz/schemathesis.ts'
import { installPython, Lacking } from './python/packages.ts'
import { UsageError } from './usage.ts'

// Holds a service with demo orders against the description that it serves, by all that schemathesis generates
// and checks. Exits 1 when an answer was not as described, or too little was tried to tell.
const MINIMUM_CASES = { inFull: 10_000, bounded: 500 }
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const REQUIREMENTS = fileURLToPath(new URL('fuzz/requirements.txt', import.meta.url))
/** An account that must not see the orders of the demo account, some shared ones apart. */
const STRANGER = 'acc_demo_loja'

const SERVED_DEMO = {
  args: ['serve', '--demo'],
  settings: {
    RATE_LIMIT_CAPACITY: '1000000',
    RATE_LIMIT_REFILL_PER_SECOND: '1000000',
    TRUST_PROXY: '127.0.0.1', // Each case comes from an address of its own: `fuzz/hooks.py`.
  },
  awaited: [/Server listening at (http:[^"]+)/, /demo key +(key_\S+)/],
}

const interrupted = new AbortController()
onFirstSignal((signal) => {
  process.exitCode = 128 + constants.signals[signal]
  interrupted.abort()
})

try {
  const options = readOptions(process.argv.slice(2), () => randomInt(2 ** 31))
  const programs = await installPython({ name: 'fuzz', requirements: REQUIREMENTS }, console.error)
  await fuzz(options, join(programs, 'st'))
} catch (error) {
  const isExpected = error instanceof UsageError || error instanceof Lacking
  if (!isExpected && !interrupted.signal.aborted) throw error
  console.error(error instanceof Error ? error.message : error)
  process.exitCode ??= error instanceof UsageError ? 2 : 1
}

async function fuzz(options: FuzzOptions, program: string): Promise<void> {
  const { seconds, seed } = options
  const { signal } = interrupted
  const service = await startService(SERVED_DEMO)
  const scratch = await openScratch('fuzz')
  try {
    const [baseUrl = '', owner = ''] = service.said
    const keys = { owner, stranger: await issueKey(service.settingsFile, STRANGER) }
    console.error(
      `schemathesis, seed ${seed}, ${seconds === undefined ? 'in full' : `${seconds} s`}`,
    )
    const surroundings = { program, folder: scratch.path, signal }
    const runs = await runSchemathesis(options, { baseUrl, keys }, surroundings)

    const { inFull, bounded } = MINIMUM_CASES
    const faults = faultsOf(runs, seconds === undefined ? inFull : bounded)
    if (faults.length > 0) {
      const outputs = runs.map(({ output }) => output)
      console.error([...outputs, ...faults.map((fault) => `- ${fault}`)].join('\n'))
      process.exitCode = 1
    }
    console.log(tell(runs, faults))
  } finally {
    await service.stop()
    await scratch.close()
  }
}

async function issueKey(settingsFile: string, accountId: string): Promise<string> {
  const command = [`--env-file=${settingsFile}`, MAIN, 'keys', 'create', '--account', accountId]
  const { stdout } = await promisify(execFile)(process.execPath, command, { env: {} })
  return stdout.trim()
}
