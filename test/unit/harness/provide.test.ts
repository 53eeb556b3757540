import { describe, expect, it } from 'vitest'
import { provideServices } from '../../harness/services/provide.ts'

const given = { OPENSEARCH_URL: 'http://search:9200', REDIS_URL: 'redis://cache:6379' }
const log = () => {}

describe('providing the services', () => {
  it('the harness uses given addresses without probing Docker', async () => {
    const hasDocker = () => Promise.reject(new Error('unexpected probe'))
    const services = await provideServices({ env: given, log, hasDocker })
    expect(services).toMatchObject({ env: given })
  })

  it('the harness names each service that is not available', async () => {
    const services = await provideServices({ env: { PATH: '' }, log, hasDocker: async () => false })
    expect(services).toEqual({
      missing: [expect.stringMatching(/^OpenSearch: /), expect.stringMatching(/^Redis: /)],
    })
  })

  it('the harness starts neither service when one is not available', async () => {
    const env = { ...given, REDIS_URL: '', PATH: '' }
    const services = await provideServices({ env, log, hasDocker: async () => false })
    expect(services).toEqual({ missing: [expect.stringMatching(/^Redis: /)] })
  })
})
