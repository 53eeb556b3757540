import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { keepTemporaryFilesInMemory } from './test/harness/processes/temporary-folder.ts'
import {
  embeddedTiers,
  ownServicesTiers,
  type Schedule,
  servicesTiers,
} from './test/harness/tiers.ts'

// CONTRIBUTING.md describes the tiers.
keepTemporaryFilesInMemory(process.env)

const haveServices = Boolean(process.env['OPENSEARCH_URL'] && process.env['REDIS_URL'])

interface Tier {
  folder: string
  testTimeoutMs: number
}

// The embedded tiers never see the services, even where they run.
const backends = {
  embedded: { BACKEND: 'embedded', OPENSEARCH_URL: '', REDIS_URL: '' },
  services: { BACKEND: 'services' },
}

/**
 * Most tiers share workers. There are more than processors, because tests wait for services, leases
 * and clocks. Files of a tier share the modules of a worker, which halves the processor time.
 */
const TOGETHER = {
  maxWorkers: availableParallelism() + 2,
  isolate: false,
  restoreMocks: true,
  sequence: { groupOrder: 1 },
}
const SCHEDULES = {
  together: TOGETHER,
  'a few': { maxWorkers: 3, sequence: { groupOrder: 2 } },
  'one by one': { maxWorkers: 1, sequence: { groupOrder: 3 } },
} as const satisfies Record<Schedule, object>

/**
 * A poll ends at its first success, so a busy machine costs no time where all is well. A hook may
 * start processes and create all indices.
 */
const PATIENT = { expect: { poll: { timeout: 30_000 } }, hookTimeout: 300_000 }

const include = ({ folder }: Tier) => [`test/${folder}/**/*.test.ts`]

const embedded = Object.entries(embeddedTiers).map(([name, tier]) => ({
  test: {
    name,
    include: include(tier),
    testTimeout: tier.testTimeoutMs,
    env: backends.embedded,
    ...PATIENT,
    ...TOGETHER,
  },
}))

const onServices = haveServices
  ? Object.entries(servicesTiers).map(([name, tier]) => ({
      name,
      ...tier,
      backend: 'services' as const,
    }))
  : []
const onOwnServices = Object.entries(ownServicesTiers).map(([name, tier]) => ({ name, ...tier }))

const services = [...onOwnServices, ...onServices].map(({ name, backend, schedule, ...tier }) => ({
  test: {
    name,
    include: include(tier),
    exclude: ['test/*/embedded/**'],
    testTimeout: tier.testTimeoutMs,
    env: backends[backend],
    ...('globalSetup' in tier && { globalSetup: tier.globalSetup }),
    ...PATIENT,
    ...SCHEDULES[schedule],
  },
}))

export default defineConfig({
  test: { projects: [...embedded, ...services] },
})
