import { UnsupportedStore } from '../../unsupported-store.ts'
import { type OpenSearch, read } from './client.ts'
import { RequestRejectedError } from './errors.ts'

/** The oldest version that the tests run on; `docker/stores.md` lists all of them. */
const OLDEST = { major: 2, minor: 19 }
const REQUIRED = `this service needs OpenSearch ${OLDEST.major}.${OLDEST.minor} or later`
const ANOTHER_CLUSTER = 'set OPENSEARCH_URL to the address of such a cluster'
const UPGRADE = 'upgrade the cluster, or set OPENSEARCH_URL to a newer one'

/** The part of the response of `GET /` that identifies the service. */
interface RootResponse {
  tagline?: unknown
  version?: { distribution?: unknown; number?: unknown }
}

/**
 * Checks the service behind `OPENSEARCH_URL`. Each node reports its own version, so in a rolling
 * upgrade the node that responds decides. Where the user may not read the version, it passes.
 * @throws UnsupportedStore when it is no OpenSearch, or older than the oldest tested version;
 *   Unavailable
 */
export async function assertSupportedVersion(
  client: OpenSearch,
  deadlineMs: number,
): Promise<void> {
  try {
    const root: RootResponse = await read(deadlineMs, (options) => client.info({}, options))
    const problem = isVersionHidden(root)
      ? versionProblem(await nodeVersions(client, deadlineMs))
      : rootProblem(root)
    if (problem !== undefined) throw new UnsupportedStore(problem)
  } catch (error) {
    if (!(error instanceof RequestRejectedError)) throw error
  }
}

/** Nodes of OpenSearch 2 report 7.10.2 with `compatibility.override_main_response_version`. */
function isVersionHidden({ tagline, version }: RootResponse): boolean {
  return version?.distribution === undefined && `${tagline}`.startsWith('The OpenSearch Project')
}

async function nodeVersions(client: OpenSearch, deadlineMs: number): Promise<unknown[]> {
  const request: object = { metric: 'process', filter_path: ['nodes.*.version'] }
  const { nodes = {} } = await read(deadlineMs, (options) => client.nodes.info(request, options))
  return Object.values(nodes).map(({ version }) => version)
}

/** Why the service cannot use what sent this response, and the next step; `undefined` if it can. */
function rootProblem({ tagline, version }: RootResponse): string | undefined {
  const { distribution, number } = version ?? {}
  if (distribution === 'opensearch') return versionProblem([number])
  const found =
    tagline === 'You Know, for Search' ? `Elasticsearch ${shown(number)}` : 'another service'
  return `OPENSEARCH_URL leads to ${found}, and ${REQUIRED}: ${ANOTHER_CLUSTER}`
}

function versionProblem(versions: readonly unknown[]): string | undefined {
  const unsupported = versions.filter((version) => !isSupported(version))
  if (unsupported.length === 0) return undefined
  return `OPENSEARCH_URL leads to OpenSearch ${shown(unsupported[0])}, and ${REQUIRED}: ${UPGRADE}`
}

function isSupported(version: unknown): boolean {
  const [, major, minor] = /^(\d+)\.(\d+)\./.exec(`${version}`) ?? []
  if (major === undefined) return false
  return (
    Number(major) > OLDEST.major ||
    (Number(major) === OLDEST.major && Number(minor) >= OLDEST.minor)
  )
}

/** The version as a message may show it, since the response is foreign text. */
function shown(version: unknown): string {
  const isPlain = typeof version === 'string' && /^[\w.+-]{1,40}$/.test(version)
  return isPlain ? version : 'of an unknown version'
}
