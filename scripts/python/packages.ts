import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { installation } from '../installations.ts'

const run = promisify(execFile)
/** The minimum version of the pinned packages; an older Python would need others. */
const HAS_PYTHON = 'import sys; sys.exit(sys.version_info < (3, 11))'
const PIP_INSTALL = ['-m', 'pip', 'install', '--quiet', '--no-input', '--disable-pip-version-check']

/** Pinned packages for a Python program of the project. */
export interface PythonPackages {
  /** The owner of the packages: names the folder and appears in errors. */
  name: string
  /** The file that pins them. */
  requirements: string
}

/** What this machine lacks, and how to install it. */
export class Lacking extends Error {}

/**
 * Installs the pinned packages on first use and keeps them for later runs. Returns the folder of
 * their programs, including `python`.
 * @throws Lacking
 */
export async function installPython(
  { name, requirements }: PythonPackages,
  log: (line: string) => void,
): Promise<string> {
  const need = needFor(name)
  const python = 'Python 3.11 or later (Debian: apt-get install -y python3)'
  await need(python, 'python3', ['-c', HAS_PYTHON])
  // A virtual environment runs the interpreter that created it.
  const { stdout: version } = await run('python3', ['--version'])
  const wanted = `${version}${await readFile(requirements, 'utf8')}`

  const folder = await installation(
    name.replaceAll('/', '-'),
    wanted,
    async (empty) => {
      const venv = 'venv of Python (Debian: apt-get install -y python3-venv)'
      await need(venv, 'python3', ['-m', 'venv', empty])
      const install = [...PIP_INSTALL, '--requirement', requirements]
      await need(`the packages of ${requirements}`, join(empty, 'bin/python'), install)
    },
    { log },
  )
  return join(folder, 'bin')
}

const needFor = (name: string) => async (what: string, command: string, args: string[]) => {
  try {
    await run(command, args)
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string }
    throw new Lacking(`${name} needs ${what}.\n${stderr || message}`, { cause: error })
  }
}
