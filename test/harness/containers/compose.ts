import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { findOnPath } from '../tools/find-on-path.ts'
import { type CommandOptions, type Docker, outputOf, runToEnd } from './docker.ts'

/** Not the name in the file, whose volumes hold the data of the developer. */
export const PROJECT = 'public-orders-api-test'

const FILE = 'docker-compose.yml'
/** What Compose 1 does not know; it changes names and output only. */
const NEWER_KEYS = { file: 'name', service: 'attach' } as const

/** `docker compose` in a copy of the project. */
export interface Compose {
  /** Runs a command of Compose to its end. Throws when it fails. */
  (...args: readonly string[]): Promise<string>
  /** A command with this input, whatever its exit code. */
  attempt: (args: readonly string[], options?: CommandOptions) => ReturnType<typeof runToEnd>
  /** The id of the container of a service. */
  container(service: string): Promise<string>
}

/** The command line of Compose: the plugin of Docker, or the program before it. */
export async function findCompose(env: NodeJS.ProcessEnv): Promise<string[] | undefined> {
  if (findOnPath('docker', env) === undefined) return undefined
  const plugin = ['docker', 'compose']
  if ((await runToEnd([...plugin, 'version'], { env })).code === 0) return plugin
  return findOnPath('docker-compose', env) === undefined ? undefined : ['docker-compose']
}

/** Compose for the file in `folder`, which is rewritten where Compose is older than the file. */
export async function openCompose({ env }: Docker, folder: string): Promise<Compose> {
  const program = await findCompose(env)
  if (program === undefined) throw new Error('no docker compose and no docker-compose')
  const version = await outputOf([...program, 'version', '--short'], { env })
  if (version.startsWith('1.')) await removeNewerKeys(join(folder, FILE))
  const command = [...program, '--project-name', PROJECT, '--file', join(folder, FILE)]
  const run = (...args: readonly string[]) => outputOf([...command, ...args], { env, cwd: folder })
  return Object.assign(run, {
    attempt: (args: readonly string[], options: CommandOptions = {}) =>
      runToEnd([...command, ...args], { env, cwd: folder, ...options }),
    container: (service: string) => run('ps', '--quiet', service),
  })
}

async function removeNewerKeys(file: string): Promise<void> {
  const project = parse(await readFile(file, 'utf8'), { merge: true })
  delete project[NEWER_KEYS.file]
  for (const service of Object.values<Record<string, unknown>>(project.services)) {
    delete service[NEWER_KEYS.service]
  }
  await writeFile(file, JSON.stringify(project)) // JSON is YAML.
}
