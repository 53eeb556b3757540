import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openScratch } from '../test/harness/processes/scratch.ts'
import { MAIN, startService } from '../test/harness/processes/service.ts'
import { type FuzzOptions, readOptions } from './fuzz/options.ts'
import { faultsOf, summaryLine } from './fuzz/report.ts'
import { type RunWithOutput, runSchemathesis } from './fuzz/schemathesis.ts'
import { managementApi, newManagementToken, publicApi, type Target } from './fuzz/targets.ts'
import { interruptible } from './interruptible.ts'
import { installPython, Lacking } from './python/packages.ts'

// Compares the APIs of a service with demo orders against their own OpenAPI descriptions, with the
// cases and checks of schemathesis. It exits with 1 when a response violates a description, or when
// there were too few cases.
const REQUIREMENTS = fileURLToPath(new URL('fuzz/requirements.txt', import.meta.url))
/** An account that must not see orders of the demo account, except shared ones. */
const STRANGER = 'acc_demo_loja'

const servedDemo = (managementTokens: string) => ({
  args: ['serve', '--demo'],
  settings: {
    RATE_LIMIT_CAPACITY: '1000000',
    RATE_LIMIT_REFILL_PER_SECOND: '1000000',
    TRUST_PROXY: '127.0.0.1', // Each case has its own address: `fuzz/hooks.py`.
    MANAGEMENT_PORT: '0',
    CONSOLE_PORT: '0',
    MANAGEMENT_TOKENS: managementTokens,
    // Nothing listens there, so no delivery leaves this machine.
    WEBHOOK_PROXY_URL: 'http://127.0.0.1:9',
  },
  awaited: [
    /Server listening at (http:[^"]+)/,
    /demo key +(key_\S+)/,
    /management at (http:[^"\s]+)/,
  ],
})

const isExpected = (error: unknown) => error instanceof Lacking

await interruptible(
  async (signal) => {
    const options = readOptions(process.argv.slice(2), () => randomInt(2 ** 31))
    const programs = await installPython(
      { name: 'fuzz', requirements: REQUIREMENTS },
      console.error,
    )
    await fuzz(options, join(programs, 'st'), signal)
  },
  { isExpected },
)

async function fuzz(options: FuzzOptions, program: string, signal: AbortSignal): Promise<void> {
  const { seconds, seed } = options
  const { token, setting } = newManagementToken()
  // Two services: the cases of the management API block accounts and push orders.
  await using service = await startService(servedDemo(setting))
  await using managed = await startService(servedDemo(setting))
  const scratch = await openScratch('fuzz')
  try {
    const [baseUrl = '', owner = ''] = service.captured
    const [, , managementUrl = ''] = managed.captured
    const keys = { owner, stranger: await issueKey(service.settingsFile, STRANGER) }
    console.error(
      `schemathesis, seed ${seed}, ${seconds === undefined ? 'in full' : `${seconds} s`}`,
    )
    const targets = [publicApi(baseUrl, keys), managementApi(managementUrl, token)]
    const failed = new AbortController()
    const surroundings = {
      program,
      folder: scratch.path,
      signal: AbortSignal.any([signal, failed.signal]),
    }
    // All at once: each run is one thread, and waits for its service.
    const runs = targets.map(async (target) => {
      report(target, await runSchemathesis(options, target, surroundings), seconds)
    })
    try {
      await Promise.all(runs)
    } finally {
      failed.abort() // A run that failed must not leave the others behind.
      await Promise.allSettled(runs)
    }
  } finally {
    await scratch.close()
  }
}

function report({ name, minimumCases }: Target, runs: RunWithOutput[], seconds?: number): void {
  const faults = faultsOf(runs, seconds === undefined ? minimumCases.inFull : minimumCases.bounded)
  if (faults.length > 0) {
    const outputs = runs.map(({ output }) => output)
    console.error([...outputs, ...faults.map((fault) => `- ${fault}`)].join('\n'))
    process.exitCode = 1
  }
  console.log(`${name}: ${summaryLine(runs, faults)}`)
}

async function issueKey(settingsFile: string, accountId: string): Promise<string> {
  const command = [`--env-file=${settingsFile}`, MAIN, 'keys', 'create', '--account', accountId]
  const { stdout } = await promisify(execFile)(process.execPath, command, { env: {} })
  return stdout.trim()
}
