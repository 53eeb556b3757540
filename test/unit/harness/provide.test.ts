import { describe, expect, it } from 'vitest'
import { provideServices } from '../../harness/services/provide.ts'

const given = { OPENSEARCH_URL: 'http://search:9200', REDIS_URL: 'redis://cache:6379' }
const log = () => {}

describe('providing the services', () => {
  it('takes addresses as they are given, without a look for Docker', async () => {
    const hasDocker = () => Promise.reject(new Error('nobody asks'))
    const services = await provideServices({ env: given, log, hasDocker })
    expect(services).toMatchObject({ env: given })
  })

  it('names each service that cannot be had on a bare machine', async () => {
    const services = await provideServices({ env: { PATH: '' }, log, hasDocker: async () => false })
    expect(services).toEqual({
      missing: [expect.stringMatching(/^OpenSearch: /), expect.stringMatching(/^Redis: /)],
    })
  })

  it('provides neither when one cannot be had', async () => {
    const env = { ...given, REDIS_URL: '', PATH: '' }
    const services = await provideServices({ env, log, hasDocker: async () => false })
    expect(services).toEqual({ missing: [expect.stringMatching(/^Redis: /)] })
  })
})
