import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { openSearchVersion } from '../../harness/services/opensearch/opensearch-version.ts'
import { provideServices } from '../../harness/services/provide.ts'

describe('the OpenSearch version of the tests', () => {
  it.each([[{}], [{ TEST_OPENSEARCH_VERSION: '' }]])(
    'the harness starts the version of docker-compose.yml with %j',
    (env) => {
      const compose = readFileSync(new URL('../../../docker-compose.yml', import.meta.url), 'utf8')
      expect(compose).toContain(`image: opensearchproject/opensearch:${openSearchVersion(env)}\n`)
    },
  )

  it('the harness starts the version in TEST_OPENSEARCH_VERSION', () => {
    expect(openSearchVersion({ TEST_OPENSEARCH_VERSION: '2.19.0' })).toBe('2.19.0')
  })

  it.each(['3', '3.0', 'latest', '3.0.0.0', '2.x.1', '3.0.0-beta1'])(
    'the harness rejects %j as a version, instead of leaving tiers out',
    async (version) => {
      const env = { PATH: '', TEST_OPENSEARCH_VERSION: version }
      const options = { env, log: () => {}, hasDocker: async () => false }
      await expect(provideServices(options)).rejects.toThrow(
        `TEST_OPENSEARCH_VERSION is "${version}": set it to a release, such as 3.8.0`,
      )
    },
  )
})
