import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { findOnPath, PROGRAM_CHECK_MS } from './find-on-path.ts'

/** The minimum version for OpenSearch 3. */
export const MIN_JAVA_MAJOR = 21

const SERIAL_COLLECTOR = '-XX:+UseSerialGC'
/**
 * Without the optimizing compiler, which costs a start of OpenSearch half of its processor time.
 */
const QUICK_COMPILER = '-XX:TieredStopAtLevel=1'

/** Explicit, because `npm test` chooses the quick one for every JVM without a choice of its own. */
const OPTIMIZING_COMPILER = '-XX:TieredStopAtLevel=4'

/** The options of a JVM by what it serves: one test file, a whole run, or a measurement. */
export const JVM_OPTIONS = {
  test: [SERIAL_COLLECTOR, QUICK_COMPILER],
  run: [SERIAL_COLLECTOR, OPTIMIZING_COMPILER],
  measurement: [],
} as const

export type JvmPurpose = keyof typeof JVM_OPTIONS

const JVM_FOLDERS = [
  '/usr/lib/jvm/*',
  '/usr/java/*',
  '/Library/Java/JavaVirtualMachines/*/Contents/Home',
  '/opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home',
  join(homedir(), '.sdkman/candidates/java/*'),
  join(homedir(), '.jdks/*'),
]

/** The major version in the output of `java -version`, 8 for `1.8`; `undefined` for other text. */
export function parseJavaMajor(text: string): number | undefined {
  const [, first, second] = /version "(\d+)(?:\.(\d+))?/.exec(text) ?? []
  if (first === undefined) return undefined
  return Number(first === '1' ? second : first)
}

/**
 * The `java` of a JVM that OpenSearch supports: of `JAVA_HOME`, of the usual JVM folders, or on the
 * path. `undefined` when there is none.
 */
export async function findJava(
  env: NodeJS.ProcessEnv,
  jvmFolders: readonly string[] = JVM_FOLDERS,
): Promise<string | undefined> {
  const homes = [...(env['JAVA_HOME'] ? [env['JAVA_HOME']] : []), ...globSync([...jvmFolders])]
  const onPath = findOnPath('java', env)
  const candidates = [...homes.map((home) => join(home, 'bin/java')), ...(onPath ? [onPath] : [])]
  for (const java of candidates) {
    if ((await javaMajor(java)) >= MIN_JAVA_MAJOR) return java
  }
  return undefined
}

/** The `JAVA_HOME` for Maven. */
export const javaHome = (java: string): string => dirname(dirname(java))

async function javaMajor(java: string): Promise<number> {
  try {
    const { stderr } = await promisify(execFile)(java, ['-version'], { timeout: PROGRAM_CHECK_MS })
    return parseJavaMajor(stderr) ?? 0
  } catch {
    return 0
  }
}
