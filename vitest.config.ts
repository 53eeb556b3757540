import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { keepTemporaryFilesInMemory } from './test/harness/processes/temporary-folder.ts'
import { embeddedTiers, ownServicesTiers, servicesTiers } from './test/harness/tiers.ts'

// The tiers, each with its rule of entry, are told in CONTRIBUTING.md.
keepTemporaryFilesInMemory(process.env)

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

/** More than there are processors, since tests wait for services, leases and clocks most of their time. */
const WORKERS = availableParallelism() + 1
/** What a cluster of two small nodes keeps up with. */
const WORKERS_ON_SERVICES = Math.min(WORKERS, 4)

const FIRST = { maxWorkers: WORKERS, sequence: { groupOrder: 1 } }
// After those that need nothing, which tell sooner what is wrong; last come those that need the processors for themselves.
const BESIDE_EACH_OTHER = { maxWorkers: WORKERS_ON_SERVICES, sequence: { groupOrder: 2 } }
const ONE_BY_ONE = { maxWorkers: 1, sequence: { groupOrder: 3 } }

const include = ({ folder }: Tier) => [`test/${folder}/**/*.test.ts`]

const embedded = Object.entries(embeddedTiers).map(([name, tier]) => ({
  test: {
    name,
    include: include(tier),
    testTimeout: tier.testTimeoutMs,
    hookTimeout: 60_000,
    env: backends.embedded,
    ...FIRST,
  },
}))

const onServices = haveServices
  ? Object.entries(servicesTiers).map(([name, tier]) => ({
      name,
      alone: false,
      ...tier,
      backend: 'services' as const,
    }))
  : []
// `npm test` leaves them out where what they need is lacking. What they promise in a fault takes a processor to keep.
const onOwnServices = Object.entries(ownServicesTiers).map(([name, tier]) => ({
  name,
  ...tier,
}))

function placeOf(backend: keyof typeof backends, alone: boolean) {
  if (alone) return ONE_BY_ONE
  return backend === 'embedded' ? FIRST : BESIDE_EACH_OTHER
}

const services = [...onOwnServices, ...onServices].map(({ name, backend, alone, ...tier }) => ({
  test: {
    name,
    include: include(tier),
    exclude: ['test/*/embedded/**'],
    testTimeout: tier.testTimeoutMs,
    hookTimeout: 120_000,
    env: backends[backend],
    ...placeOf(backend, alone),
  },
}))

export default defineConfig({
  test: { projects: [...embedded, ...services] },
})
