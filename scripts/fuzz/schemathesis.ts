import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FuzzOptions } from './options.ts'
import { type Run, readReport } from './report.ts'

/** The phases of each run, and its limit without `--seconds`. */
const SHARES = [
  { phases: ['examples', 'coverage', 'fuzzing'], inFull: ['--max-examples', 4_500] },
  // A separate run, because combined with the others it follows only a dozen links. It is limited
  // by time: `hooks.py` replaces drawn cursors, which ends a round early, and only a time limit
  // starts another round.
  { phases: ['stateful'], inFull: ['--max-time', 90] },
]

const CONFIG = fileURLToPath(new URL('schemathesis.toml', import.meta.url))
const HOOKS = fileURLToPath(new URL('hooks.py', import.meta.url))

interface Target {
  baseUrl: string
  /** By their names in `schemathesis.toml`. */
  keys: Readonly<Record<'owner' | 'stranger', string>>
}

interface Surroundings {
  /** The executable of schemathesis. */
  program: string
  /** A folder for its input and output. */
  folder: string
  signal: AbortSignal
}

type RunWithOutput = Run & { output: string }

/** Runs schemathesis with the description that the target serves; the runs share the time. */
export async function runSchemathesis(
  options: FuzzOptions,
  target: Target,
  surroundings: Surroundings,
): Promise<RunWithOutput[]> {
  const runs: RunWithOutput[] = []
  for (const share of SHARES) runs.push(await runShare(share, options, target, surroundings))
  return runs
}

async function runShare(
  { phases, inFull }: (typeof SHARES)[number],
  { seconds, seed }: FuzzOptions,
  { baseUrl, keys }: Target,
  { program, folder, signal }: Surroundings,
): Promise<RunWithOutput> {
  const keysFile = join(folder, 'keys.json')
  const reportFile = join(folder, `${phases.join('-')}.json`)
  const cursorsFile = join(folder, `${phases.join('-')}-cursors`)
  const outputFile = join(folder, `${phases.join('-')}-output`)
  await writeFile(keysFile, identities(keys), { mode: 0o600 })
  const output = await open(outputFile, 'w')
  const bound = seconds === undefined ? inFull : ['--max-time', Math.ceil(seconds / SHARES.length)]
  const args = [
    ...['--config-file', CONFIG, 'run', `${baseUrl}/openapi.json`, '--seed', seed, ...bound],
    ...['--phases', phases.join(','), '--report', 'json', '--report-json-path', reportFile],
  ]
  const child = spawn(program, args.map(String), {
    cwd: folder,
    stdio: ['ignore', output.fd, output.fd],
    env: { ...process.env, FUZZ_KEYS: keysFile, FUZZ_HOOKS: HOOKS, FUZZ_CURSORS: cursorsFile },
    signal,
  })
  await once(child, 'exit').finally(() => output.close())

  const text = await readFile(outputFile, 'utf8')
  const json = await readFile(reportFile, 'utf8').catch((cause) => {
    throw new Error(`schemathesis wrote no report:\n${text}`, { cause })
  })
  const cursors = Number(await readFile(cursorsFile, 'utf8'))
  return { phases, report: readReport(json), cursors, output: text }
}

/** In the format of Web Fuzzing Commons. */
function identities(keys: Target['keys']): string {
  const auth = Object.entries(keys).map(([name, key]) => ({
    name,
    fixedHeaders: [{ name: 'Authorization', value: `Bearer ${key}` }],
  }))
  return JSON.stringify({ auth })
}
