import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FuzzOptions } from './options.ts'
import { type Report, readReport } from './report.ts'

/** Cases of each operation in the phase `fuzzing`; the other phases add several times as many. */
const EXAMPLES_IN_FULL = 1_500

const CONFIG = fileURLToPath(new URL('schemathesis.toml', import.meta.url))
const HOOKS = fileURLToPath(new URL('hooks.py', import.meta.url))

interface Target {
  baseUrl: string
  /** By the names that `schemathesis.toml` knows them under. */
  keys: Readonly<Record<'owner' | 'stranger', string>>
}

interface Surroundings {
  /** Where schemathesis is. */
  program: string
  /** A folder for what it is told and what it tells. */
  folder: string
  signal: AbortSignal
}

/** Runs schemathesis over the description that the target serves, to its end. */
export async function runSchemathesis(
  { seconds, seed }: FuzzOptions,
  { baseUrl, keys }: Target,
  { program, folder, signal }: Surroundings,
): Promise<{ report: Report; output: string }> {
  const keysFile = join(folder, 'keys.json')
  const reportFile = join(folder, 'report.json')
  const outputFile = join(folder, 'output')
  await writeFile(keysFile, identities(keys), { mode: 0o600 })
  const output = await open(outputFile, 'w')
  const share =
    seconds === undefined ? ['--max-examples', EXAMPLES_IN_FULL] : ['--max-time', seconds]
  const args = [
    ...['--config-file', CONFIG, 'run', `${baseUrl}/openapi.json`, '--seed', seed, ...share],
    ...['--report', 'json', '--report-json-path', reportFile],
  ]
  const child = spawn(program, args.map(String), {
    cwd: folder,
    stdio: ['ignore', output.fd, output.fd],
    env: { ...process.env, FUZZ_KEYS: keysFile, FUZZ_HOOKS: HOOKS },
    signal,
  })
  await once(child, 'exit').finally(() => output.close())

  const told = await readFile(outputFile, 'utf8')
  const json = await readFile(reportFile, 'utf8').catch((cause) => {
    throw new Error(`schemathesis wrote no report:\n${told}`, { cause })
  })
  return { report: readReport(json), output: told }
}

/** In the form of Web Fuzzing Commons. */
function identities(keys: Target['keys']): string {
  const auth = Object.entries(keys).map(([name, key]) => ({
    name,
    fixedHeaders: [{ name: 'Authorization', value: `Bearer ${key}` }],
  }))
  return JSON.stringify({ auth })
}
