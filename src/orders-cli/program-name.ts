import { basename, delimiter, dirname, relative } from 'node:path'

/** The file name of the program inside its package. */
const MAIN = /^main\.[jt]s$/
/** `npm run`, in npm 10 and in npm 11. */
const SCRIPT_COMMANDS = ['run-script', 'run']

/**
 * The words with which this program was called, so that a hint can be copied: `orders`,
 * `npx orders`, `npm run -s orders --`, or `node` and the file. `script`: absolute.
 */
export function programName(script: string, env: NodeJS.ProcessEnv, cwd: string): string[] {
  const isScript = SCRIPT_COMMANDS.includes(env['npm_command'] ?? '')
  if (isScript && env['npm_lifecycle_event'] === 'orders') {
    return ['npm', 'run', '-s', 'orders', '--']
  }
  // On Windows the shim of npm calls the file inside the package.
  const isShim = MAIN.test(basename(script)) && /[\\/]node_modules[\\/]/.test(script)
  if (MAIN.test(basename(script)) && !isShim) return ['node', near(script, cwd)]
  if (isScript || env['npm_command'] === 'exec') return ['npx', 'orders']
  const isInPath = isShim || (env['PATH'] ?? '').split(delimiter).includes(dirname(script))
  return [isInPath ? 'orders' : near(script, cwd)]
}

/** Relative inside the current folder, where it is shorter. */
function near(script: string, cwd: string): string {
  const path = relative(cwd, script)
  return path.startsWith('..') ? script : path
}
