import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { memoizeAsync } from '../../../src/lib/async/memoize-async.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const BUILT = fileURLToPath(new URL('../../../dist/main.js', import.meta.url))

/**
 * Runs `npm run build` at the first call. Returns the file of the program that users deploy: from
 * source, Node would also keep in memory what strips the types. @throws Error when the build fails
 */
export const builtProgram: () => Promise<string> = memoizeAsync(async () => {
  await promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: ROOT })
  return BUILT
})
