import { cp, mkdir, realpath } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { outputOf } from '../../test/harness/containers/docker.ts'
import { openSearchClassPath } from '../../test/harness/services/opensearch/opensearch-class-path.ts'
import { findOnPath } from '../../test/harness/tools/find-on-path.ts'
import { findJava, MIN_JAVA_MAJOR } from '../../test/harness/tools/jdk.ts'

const NODE = fileURLToPath(new URL('../../node_modules/node/bin/node', import.meta.url))
const CERTIFICATES = process.env['SSL_CERT_FILE'] ?? '/etc/ssl/certs/ca-certificates.crt'

/** What a stand-in needs beside the files of its folder. */
export interface Source {
  /** Puts further files into the build context. `tag`: that of the image. */
  fill?(context: string, tag: string): Promise<void>
  buildArgs?(): Promise<Record<string, string>>
}

/** The images that have a stand-in, without their tags; each has a folder in `docker/stand-ins`. */
export const sources: Readonly<Record<string, Source & { folder: string }>> = {
  node: {
    folder: 'node',
    async fill(context) {
      await cp(NODE, join(context, 'node'))
      const npm = dirname(dirname(await realpath(findOnPath('npm', process.env) ?? 'npm')))
      await cp(npm, join(context, 'npm'), { recursive: true })
      await cp(CERTIFICATES, join(context, 'ca-certificates.crt'), { dereference: true })
    },
    async buildArgs() {
      return { NPM_REGISTRY: await outputOf(['npm', 'config', 'get', 'registry']) }
    },
  },
  redis: { folder: 'redis' },
  haproxy: { folder: 'haproxy' },
  'prom/prometheus': { folder: 'prometheus' },
  'opensearchproject/opensearch': {
    folder: 'opensearch',
    async fill(context, tag) {
      const java = await findJava(process.env)
      const maven = findOnPath('mvn', process.env)
      if (!java || !maven) throw new Error(`OpenSearch needs a JDK >= ${MIN_JAVA_MAJOR} and Maven`)
      await mkdir(join(context, 'jars'))
      const jars = (await openSearchClassPath(tag, maven, java)).split(delimiter)
      for (const [at, jar] of jars.entries()) await cp(jar, join(context, 'jars', `${at}.jar`))
    },
  },
  'testcontainers/ryuk': { folder: 'ryuk' },
}
