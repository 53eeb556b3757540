import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const CACHES = fileURLToPath(new URL('../../../node_modules/.cache/tests/', import.meta.url))

/**
 * A folder that is filled on first use, and again when `wanted` is another text; `npm ci` of the project clears
 * it. One that was not filled to the end is filled anew.
 */
export async function cachedFolder(
  name: string,
  wanted: string,
  fill: (folder: string) => Promise<void>,
): Promise<string> {
  const folder = `${CACHES}${name}/`
  const marker = `${folder}installed.txt`
  if ((await readFile(marker, 'utf8').catch(() => undefined)) === wanted) return folder
  console.error(`installing ${name} for its tests`)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await fill(folder)
  await writeFile(marker, wanted)
  return folder
}

/** Runs npm in a folder; what it installs runs no script of its own. */
export async function npm(folder: string, ...args: readonly string[]): Promise<void> {
  const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  await promisify(execFile)('npm', [...args, ...quietly], { cwd: folder })
}
