import { hash } from 'node:crypto'
import {
  mkdir,
  mkdtemp,
  readFile,
  realpath,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const NAME = 'public-orders-api'
const PROJECT_CACHE = fileURLToPath(new URL('../node_modules/.cache/', import.meta.url))
const MARKER = 'installed.txt'

/** Where {@link installation} keeps its folders; `CI` may keep it between runs. */
export interface InstallationOptions {
  /** The cache folder of the user by default, or one of the project when that is not writable. */
  root?: string
  log?(line: string): void
}

/**
 * Returns a folder with an installation that is created once for each text of `wanted`, such as a
 * lock file. It is kept between runs, checkouts and `npm ci`. Concurrent processes each fill a
 * folder of their own.
 */
export async function installation(
  name: string,
  wanted: string,
  fill: (folder: string) => Promise<void>,
  { root, log = console.error }: InstallationOptions = {},
): Promise<string> {
  const cache = root ?? (await installationCache())
  // Installations have their own place and the platform written in them.
  const key = hash('sha256', [wanted, process.platform, process.arch].join('\n')).slice(0, 16)
  const link = join(cache, `${name}-${key}`)
  const existing = await completeFolder(link)
  if (existing !== undefined) return existing

  log(`installing ${name}`)
  const folder = await mkdtemp(`${link}-`)
  try {
    await fill(folder)
    await writeFile(join(folder, MARKER), wanted)
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
  // Renamed, so that a process that starts at the same time finds a complete folder or none.
  await symlink(folder, `${folder}.link`)
  await rename(`${folder}.link`, link)
  return folder
}

/** The folder of all installations. */
export async function installationCache(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const userCache = join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), NAME)
  try {
    await mkdir(userCache, { recursive: true })
    return userCache
  } catch {
    await mkdir(PROJECT_CACHE, { recursive: true })
    return PROJECT_CACHE
  }
}

/** The folder behind the link, or `undefined` where it is missing or incomplete. */
async function completeFolder(link: string): Promise<string | undefined> {
  try {
    const folder = await realpath(link)
    await readFile(join(folder, MARKER))
    return folder
  } catch {
    return undefined
  }
}
