/** The default version of the tests; `docker-compose.yml` has it too. */
const DEFAULT_VERSION = '3.8.0'
const VARIABLE = 'TEST_OPENSEARCH_VERSION'

/**
 * The release of OpenSearch that the harness starts.
 * @throws Error when the variable names no release
 */
export function openSearchVersion(env: NodeJS.ProcessEnv): string {
  const version = env[VARIABLE] || DEFAULT_VERSION
  if (/^\d+\.\d+\.\d+$/.test(version)) return version
  throw new Error(`${VARIABLE} is "${version}": set it to a release, such as ${DEFAULT_VERSION}`)
}
