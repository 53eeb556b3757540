import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { installation } from '../../../scripts/installations.ts'

/** A folder that is filled on first use, and is kept for later runs with the same `wanted`. Nothing else is written to it. */
export const cachedFolder = (
  name: string,
  wanted: string,
  fill: (folder: string) => Promise<void>,
): Promise<string> => installation(name, wanted, fill)

/** Runs npm in a folder; what it installs runs no script of its own. */
export async function npm(folder: string, ...args: readonly string[]): Promise<void> {
  const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  await promisify(execFile)('npm', [...args, ...quietly], { cwd: folder })
}
