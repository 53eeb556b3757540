import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { installation } from '../../../scripts/installations.ts'
import { javaHome } from '../tools/jdk.ts'

const FETCH_MS = 600_000
const CLASS_PATH = 'class-path'
const PLUGIN_FOLDER = 'plugin'

/** An artifact of Maven Central: `group:artifact:version`. */
export type Artifact = `${string}:${string}:${string}`

const pomOf = (
  artifacts: readonly Artifact[],
) => `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>services</groupId>
  <artifactId>services</artifactId>
  <version>1</version>
  <dependencies>
${artifacts.map(dependencyOf).join('\n')}
  </dependencies>
</project>
`

function dependencyOf(artifact: Artifact): string {
  const [group, name, version] = artifact.split(':')
  return `    <dependency>
      <groupId>${group}</groupId>
      <artifactId>${name}</artifactId>
      <version>${version}</version>
    </dependency>`
}

/** What Maven resolves. */
export interface Wanted {
  /** The name of the folder. */
  name: string
  artifacts: readonly Artifact[]
  /** The coordinates of a zip file, whose jars are added to the class path. */
  plugin?: `${Artifact}:zip`
}

/**
 * The class path of artifacts as Maven resolves it. Maven runs once for each list of artifacts, and
 * again when a file is missing.
 */
export async function mavenClassPath(wanted: Wanted, maven: string, java: string): Promise<string> {
  const resolveIn = (folder: string) => resolve(wanted, folder, maven, java)
  const { name, artifacts, plugin } = wanted
  const text = [pomOf(artifacts), ...(plugin ? [plugin] : [])].join('\n')
  const folder = await installation(name, text, resolveIn)
  const kept = join(folder, CLASS_PATH)
  const classPath = await readFile(kept, 'utf8')
  if (classPath.split(delimiter).every((jar) => existsSync(jar))) return classPath
  await resolveIn(folder)
  return await readFile(kept, 'utf8')
}

async function resolve(
  { name, artifacts, plugin }: Wanted,
  folder: string,
  maven: string,
  java: string,
): Promise<void> {
  const work = await mkdtemp(join(folder, 'maven-'))
  const pluginFolder = join(folder, PLUGIN_FOLDER)
  try {
    await writeFile(join(work, 'pom.xml'), pomOf(artifacts))
    const unpack = [
      'dependency:unpack',
      `-Dartifact=${plugin}`,
      `-DoutputDirectory=${pluginFolder}`,
    ]
    const build = ['dependency:build-classpath', `-Dmdep.outputFile=${CLASS_PATH}`]
    const args = ['-q', '-B', ...(plugin ? unpack : []), ...build]
    const env = { ...process.env, JAVA_HOME: javaHome(java) }
    await promisify(execFile)(maven, args, { cwd: work, env, timeout: FETCH_MS }).catch((error) => {
      throw new Error(`Maven did not bring ${name}:\n${error.stdout}${error.stderr}`)
    })
    if (plugin) await appendJars(join(work, CLASS_PATH), pluginFolder)
    // Renamed, so that a process that starts at the same time reads a complete file.
    await rename(join(work, CLASS_PATH), join(folder, CLASS_PATH))
  } finally {
    await rm(work, { recursive: true })
  }
}

/** One class loader has all jars, so those of the artifacts win over the plugin's copies. */
async function appendJars(classPathFile: string, folder: string): Promise<void> {
  const present = (await readFile(classPathFile, 'utf8')).split(delimiter)
  const names = new Set(present.map(nameOf))
  const jars = (await readdir(folder)).filter((file) => file.endsWith('.jar'))
  const added = jars.filter((jar) => !names.has(nameOf(jar)))
  const paths = [...present, ...added.map((jar) => join(folder, jar))]
  await writeFile(classPathFile, paths.join(delimiter))
}

/** The name of a jar without its version. */
const nameOf = (jar: string) => basename(jar).replace(/-\d.*/, '')
