import { defineConfig } from 'vitest/config'
import { embeddedTiers, ownServicesTiers, servicesTiers } from './scripts/services/tiers.ts'

// The tiers, each with its rule of entry, are told in CONTRIBUTING.md.
const haveServices = Boolean(process.env['OPENSEARCH_URL'] && process.env['REDIS_URL'])

interface Tier {
  folder: string
  testTimeoutMs: number
}

const include = ({ folder }: Tier) => [`test/${folder}/**/*.test.ts`]

const embedded = Object.entries(embeddedTiers).map(([name, tier]) => ({
  test: {
    name,
    include: include(tier),
    testTimeout: tier.testTimeoutMs,
    hookTimeout: 60_000,
    // Also where the services run, so that these tiers are the same everywhere.
    env: { BACKEND: 'embedded', OPENSEARCH_URL: '', REDIS_URL: '' },
    sequence: { groupOrder: 1 },
  },
}))

const here = {
  ...ownServicesTiers, // `npm test` leaves them out where what they need is lacking.
  ...(haveServices && servicesTiers),
}

// After the others, which tell sooner what is wrong, and one file at a time: they share the two services.
const services = Object.entries(here).map(([name, tier]) => ({
  test: {
    name,
    include: include(tier),
    exclude: ['test/*/embedded/**'],
    testTimeout: tier.testTimeoutMs,
    hookTimeout: 120_000,
    env: { BACKEND: 'services' },
    maxWorkers: 1,
    sequence: { groupOrder: 2 },
  },
}))

export default defineConfig({
  test: { projects: [...embedded, ...services] },
})
