import type { Tool } from './choose.ts'
import { findHaproxy } from './haproxy.ts'
import { findJava } from './jdk.ts'
import { findOnPath } from './path.ts'

const find = {
  'redis-server': async (env) => findOnPath('redis-server', env),
  jdk: (env) => findJava(env),
  maven: async (env) => findOnPath('mvn', env),
  haproxy: (env) => findHaproxy(env),
} as const satisfies Record<Tool, (env: NodeJS.ProcessEnv) => Promise<string | undefined>>

/** Those of the tools that this machine does not have. */
export async function lackingOf(tools: readonly Tool[], env: NodeJS.ProcessEnv): Promise<Tool[]> {
  const programs = await Promise.all(tools.map((tool) => find[tool](env)))
  return tools.filter((_, index) => programs[index] === undefined)
}
