import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { installation } from '../../../scripts/installations.ts'

/**
 * A folder that is filled on first use, and kept for later runs with the same `wanted`. Tests write
 * nothing else to it.
 */
export const cachedFolder = (
  name: string,
  wanted: string,
  fill: (folder: string) => Promise<void>,
): Promise<string> => installation(name, wanted, fill)

/** Runs npm in a folder, without the install scripts of packages. */
export async function npm(folder: string, ...args: readonly string[]): Promise<void> {
  const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  await promisify(execFile)('npm', [...args, ...quietly], { cwd: folder })
}
