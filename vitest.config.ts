import { defineConfig } from 'vitest/config'
import { embeddedTiers, ownServicesTiers, servicesTiers } from './scripts/services/tiers.ts'

// The tiers, each with its rule of entry, are told in CONTRIBUTING.md.
const haveServices = Boolean(process.env['OPENSEARCH_URL'] && process.env['REDIS_URL'])

interface Tier {
  folder: string
  testTimeoutMs: number
}

// The services blank also where they run, so that what is embedded is the same everywhere.
const backends = {
  embedded: { BACKEND: 'embedded', OPENSEARCH_URL: '', REDIS_URL: '' },
  services: { BACKEND: 'services' },
}

const include = ({ folder }: Tier) => [`test/${folder}/**/*.test.ts`]

const embedded = Object.entries(embeddedTiers).map(([name, tier]) => ({
  test: {
    name,
    include: include(tier),
    testTimeout: tier.testTimeoutMs,
    hookTimeout: 60_000,
    env: backends.embedded,
    sequence: { groupOrder: 1 },
  },
}))

const onServices = haveServices
  ? Object.entries(servicesTiers).map(([name, tier]) => ({
      name,
      ...tier,
      backend: 'services' as const,
    }))
  : []
// `npm test` leaves them out where what they need is lacking.
const onOwnServices = Object.entries(ownServicesTiers).map(([name, tier]) => ({ name, ...tier }))

// After the others, which tell sooner what is wrong, and one file at a time: they share the two services.
const services = [...onOwnServices, ...onServices].map(({ name, backend, ...tier }) => ({
  test: {
    name,
    include: include(tier),
    exclude: ['test/*/embedded/**'],
    testTimeout: tier.testTimeoutMs,
    hookTimeout: 120_000,
    env: backends[backend],
    maxWorkers: 1,
    sequence: { groupOrder: 2 },
  },
}))

export default defineConfig({
  test: { projects: [...embedded, ...services] },
})
