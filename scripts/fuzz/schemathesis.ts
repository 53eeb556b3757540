import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { FuzzOptions } from './options.ts'
import { type Run, readReport } from './report.ts'
import type { Share, Target } from './targets.ts'

interface Surroundings {
  /** The executable of schemathesis. */
  program: string
  /** A folder for its input and output. */
  folder: string
  signal: AbortSignal
}

export type RunWithOutput = Run & { output: string }

/** Runs all shares of a target at once, each with the description that the target serves. */
export async function runSchemathesis(
  options: FuzzOptions,
  target: Target,
  surroundings: Surroundings,
): Promise<RunWithOutput[]> {
  const failed = new AbortController()
  const signal = AbortSignal.any([surroundings.signal, failed.signal])
  const runs = target.shares.map((share) =>
    runShare(share, options, target, { ...surroundings, signal }),
  )
  try {
    return await Promise.all(runs)
  } finally {
    failed.abort()
    await Promise.allSettled(runs)
  }
}

async function runShare(
  { phases, inFull }: Share,
  { seconds, seed }: FuzzOptions,
  { name, baseUrl, keys, config, hooks }: Target,
  { program, folder, signal }: Surroundings,
): Promise<RunWithOutput> {
  const fileOf = (content: string) => join(folder, [name, ...phases, content].join('-'))
  const [keysFile, reportFile] = [fileOf('keys.json'), fileOf('report.json')]
  const [cursorsFile, outputFile] = [fileOf('cursors'), fileOf('output')]
  await writeFile(keysFile, identities(keys), { mode: 0o600 })
  const output = await open(outputFile, 'w')
  const bound = seconds === undefined ? inFull : ['--max-time', seconds]
  const args = [
    ...['--config-file', config, 'run', `${baseUrl}/openapi.json`, '--seed', seed, ...bound],
    ...['--phases', phases.join(','), '--report', 'json', '--report-json-path', reportFile],
  ]
  const child = spawn(program, args.map(String), {
    cwd: folder,
    stdio: ['ignore', output.fd, output.fd],
    env: {
      ...process.env,
      ...{ FUZZ_KEYS: keysFile, FUZZ_HOOKS: hooks, FUZZ_CURSORS: cursorsFile },
      PYTHONPATH: dirname(hooks), // The hooks share a module.
    },
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
