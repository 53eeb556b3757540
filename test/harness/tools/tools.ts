import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { findCompose } from '../containers/compose.ts'
import { findEngine } from '../containers/engine.ts'
import { findHaproxy } from '../services/haproxy.ts'
import type { Tool } from '../services/service-sources.ts'
import { findOnPath } from './find-on-path.ts'
import { findJava } from './jdk.ts'

const PYTHON_CHECK = ['-c', 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))']
const PHP_CHECK = ['-r', 'exit(extension_loaded("curl") ? 0 : 1);']

const find = {
  'redis-server': async (env) => findOnPath('redis-server', env),
  jdk: (env) => findJava(env),
  maven: async (env) => findOnPath('mvn', env),
  haproxy: (env) => findHaproxy(env),
  chromium: async (env) => findOnPath('chromium', env) ?? findOnPath('google-chrome', env),
  python: (env) => findWorkingProgram('python3', PYTHON_CHECK, env),
  php: (env) => findWorkingProgram('php', PHP_CHECK, env),
  mono: async (env) => findOnPath('mcs', env),
  fpc: async (env) => findOnPath('fpc', env),
  docker: (env) => findEngine(env),
  compose: async (env) => (await findCompose(env))?.join(' '),
} as const satisfies Record<Tool, (env: NodeJS.ProcessEnv) => Promise<string | undefined>>

/** A program on the path, if it exits with 0 for these arguments. */
async function findWorkingProgram(
  name: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const program = findOnPath(name, env)
  if (program === undefined) return undefined
  return await promisify(execFile)(program, [...args], { env }).then(
    () => program,
    () => undefined,
  )
}

/** The tools that this machine lacks. */
export async function findMissingTools(
  tools: readonly Tool[],
  env: NodeJS.ProcessEnv,
): Promise<Tool[]> {
  const programs = await Promise.all(tools.map((tool) => find[tool](env)))
  return tools.filter((_, index) => programs[index] === undefined)
}
