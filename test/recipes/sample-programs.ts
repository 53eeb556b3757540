import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runProgram } from '../support/cli/program.ts'
import { temporaryFolder } from '../support/stores/backend.ts'

export interface Sample {
  label: string
  source: string
}

const { paths } = JSON.parse(
  readFileSync(new URL('../../openapi/openapi.json', import.meta.url), 'utf8'),
)
/** The samples of an operation in the description. */
export const samplesOf = (path: string): Sample[] => paths[path].get['x-codeSamples']

/** One request, without the loop of a program. */
const ONE_LINE = 'curl'
export const oneLineOf = (path: string): Sample => {
  const sample = samplesOf(path).find(({ label }) => label === ONE_LINE)
  if (sample === undefined) throw new Error(`no sample ${ONE_LINE} of ${path}`)
  return sample
}
const programsOf = (path: string) => samplesOf(path).filter(({ label }) => label !== ONE_LINE)
export const listPrograms = programsOf('/v1/orders')
export const getPrograms = programsOf('/v1/orders/{id}')

interface Runner {
  /** Runs the file, or what the compiler made of it; without one, the compiled file itself. */
  command?: string
  file: string
  compiler?: (file: string, program: string) => [command: string, ...args: string[]]
}

const MONO_LIBRARIES = ['Net.Http', 'Runtime.Serialization', 'Xml', 'Xml.Linq']
/** Delphi's units, as far as the samples use them, on those of Free Pascal. */
const DELPHI_UNITS = fileURLToPath(new URL('delphi', import.meta.url))
export const runners: Record<string, Runner> = {
  curl: { command: 'bash', file: 'curl.sh' },
  'bash com curl': { command: 'bash', file: 'pedidos.sh' },
  JavaScript: { command: process.execPath, file: 'pedidos.mjs' },
  Python: { command: 'python3', file: 'pedidos.py' },
  PHP: { command: 'php', file: 'pedidos.php' },
  Java: { command: 'java', file: 'Pedidos.java' },
  'C#': {
    command: 'mono',
    file: 'Pedidos.cs',
    compiler: (file, program) => {
      const references = MONO_LIBRARIES.map((name) => `-r:System.${name}.dll`)
      return ['mcs', ...references, `-out:${program}`, file]
    },
  },
  Delphi: {
    file: 'Pedidos.dpr',
    compiler: (file, program) => {
      return [
        'fpc',
        '-Mdelphi',
        `-Fu${DELPHI_UNITS}`,
        `-FU${dirname(program)}`,
        `-o${program}`,
        file,
      ]
    },
  },
}

/** The settings that the guide lists: the only environment of a sample, besides `PATH`. */
export interface SampleSettings {
  baseUrl: string
  key: string
}

/** Runs samples in a folder of their own, and compiles each one once. */
export function openSampleRunner() {
  const { folder, remove } = temporaryFolder()
  /** The compiled programs by their sources. */
  const compiled = new Map<string, string>()

  /** Writes a program, and compiles it where its language requires it. */
  async function programOf({ label, source }: Sample): Promise<string> {
    const { file, compiler } = runners[label] ?? { file: '' }
    const known = compiled.get(source)
    if (known !== undefined) return known
    const home = mkdtempSync(join(folder, 'sample-'))
    const path = join(home, file)
    writeFileSync(path, source)
    if (compiler === undefined) return path
    const program = `${path}.out`
    const [name, ...options] = compiler(path, program)
    const { code, stdout, stderr } = await runProgram(name, options, { cwd: home })
    if (code !== 0) throw new Error(`${name}:\n${stdout}${stderr}`)
    compiled.set(source, program)
    return program
  }

  return {
    /** The working directory of the samples. */
    folder,

    async run(sample: Sample, args: readonly string[], { baseUrl, key }: SampleSettings) {
      const { command } = runners[sample.label] ?? {}
      const program = await programOf(sample)
      const [file, ...rest] = command === undefined ? [program] : [command, program]
      const env = { ORDERS_API_URL: baseUrl, ORDERS_API_KEY: key }
      const result = await runProgram(file ?? '', [...rest, ...args], { cwd: folder, env })
      return { ...result, output: result.stdout + result.stderr }
    },

    close: remove,
  }
}
