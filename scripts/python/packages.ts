import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const CACHES = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url))
/** Of the pinned packages: an older Python would need others too. */
const HAS_PYTHON = 'import sys; sys.exit(sys.version_info < (3, 11))'
const PIP_INSTALL = ['-m', 'pip', 'install', '--quiet', '--no-input', '--disable-pip-version-check']

/** Packages that a Python program of ours needs. */
export interface PythonPackages {
  /** Whose they are: a folder's name, and what is told of what it lacks. */
  name: string
  /** The file that pins them. */
  requirements: string
}

/** What is not on this machine, and how to bring it. */
export class Lacking extends Error {}

/**
 * The pinned packages, installed on first use into a folder of their own that `npm ci` clears; answers with the
 * folder of their programs, `python` among them.
 * @throws Lacking
 */
export async function installPython(
  { name, requirements }: PythonPackages,
  log: (line: string) => void,
): Promise<string> {
  const folder = join(CACHES, name)
  const programs = join(folder, 'bin')
  const marker = join(folder, 'installed.txt')
  // The folder too: what is installed has its own place written in it, and may have been moved.
  const wanted = `${folder}\n${await readFile(requirements, 'utf8')}`
  if ((await readFile(marker, 'utf8').catch(() => undefined)) === wanted) return programs

  const need = needFor(name)
  log(`installing ${requirements}`)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const python = 'Python 3.11 or later (Debian: apt-get install -y python3)'
  await need(python, 'python3', ['-c', HAS_PYTHON])
  const venv = 'venv of Python (Debian: apt-get install -y python3-venv)'
  await need(venv, 'python3', ['-m', 'venv', folder])
  const packages = `the packages of ${requirements}`
  const install = [...PIP_INSTALL, '--requirement', requirements]
  await need(packages, join(programs, 'python'), install)
  await writeFile(marker, wanted)
  return programs
}

const needFor = (name: string) => async (what: string, command: string, args: string[]) => {
  try {
    await run(command, args)
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string }
    throw new Lacking(`${name} needs ${what}.\n${stderr || message}`, { cause: error })
  }
}
