import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const requirements = fileURLToPath(new URL('requirements.txt', import.meta.url))
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/fuzz/', import.meta.url))
/** Of the pinned packages: an older Python would need others too. */
const HAS_PYTHON = 'import sys; sys.exit(sys.version_info < (3, 11))'

/** What is not on this machine, and how to bring it. */
export class Lacking extends Error {}

/**
 * The pinned schemathesis, installed on first use into a folder that `npm ci` clears; answers with its
 * program.
 * @throws Lacking
 */
export async function installSchemathesis(log: (line: string) => void): Promise<string> {
  const program = join(CACHE, 'bin', 'st')
  const marker = join(CACHE, 'installed.txt')
  // The folder too: what is installed has its own place written in it, and may have been moved.
  const wanted = `${CACHE}\n${await readFile(requirements, 'utf8')}`
  if ((await readFile(marker, 'utf8').catch(() => undefined)) === wanted) return program

  log('installing schemathesis')
  await rm(CACHE, { recursive: true, force: true })
  await mkdir(CACHE, { recursive: true })
  const python = 'Python 3.11 or later (Debian: apt-get install -y python3)'
  await need(python, 'python3', ['-c', HAS_PYTHON])
  const venv = 'venv of Python (Debian: apt-get install -y python3-venv)'
  await need(venv, 'python3', ['-m', 'venv', CACHE])
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-input', '--disable-pip-version-check']
  const packages = 'the packages of scripts/fuzz/requirements.txt'
  await need(packages, join(CACHE, 'bin', 'python'), [...pip, '--requirement', requirements])
  await writeFile(marker, wanted)
  return program
}

async function need(what: string, command: string, args: string[]): Promise<void> {
  try {
    await run(command, args)
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string }
    throw new Lacking(`fuzz needs ${what}.\n${stderr || message}`, { cause: error })
  }
}
