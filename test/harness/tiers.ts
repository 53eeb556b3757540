import type { Tool } from './services/service-sources.ts'

/** The tiers without services: folder of `test` → timeout of a test. */
export const embeddedTiers = {
  unit: { folder: 'unit', testTimeoutMs: 60_000 },
  http: { folder: 'http', testTimeoutMs: 60_000 },
  contract: { folder: 'contract', testTimeoutMs: 120_000 },
  cli: { folder: 'cli', testTimeoutMs: 120_000 },
}

/**
 * When the files of a tier run: first, together with those of the other tiers; then those that wait
 * for outages most of the time, a few at once; last, one by one, those that need all processors.
 */
export type Schedule = 'together' | 'a few' | 'one by one'

interface ServicesTier {
  folder: string
  testTimeoutMs: number
  schedule: Schedule
}

/** The tiers on OpenSearch and Redis; they exist only when both addresses are known. */
export const servicesTiers = {
  'http-services': { folder: 'http', testTimeoutMs: 120_000, schedule: 'together' },
  'contract-services': { folder: 'contract', testTimeoutMs: 600_000, schedule: 'together' },
  'cli-services': { folder: 'cli', testTimeoutMs: 300_000, schedule: 'together' },
  integration: { folder: 'integration', testTimeoutMs: 300_000, schedule: 'together' },
  stress: { folder: 'stress', testTimeoutMs: 300_000, schedule: 'one by one' },
} as const satisfies Record<string, ServicesTier>

/** A tier that starts its services as local processes with these tools. */
interface OwnServicesTier {
  folder: string
  testTimeoutMs: number
  backend: 'embedded' | 'services'
  schedule: Schedule
  needs: readonly Tool[]
  /** A file that starts a service for all files of the tier. */
  globalSetup?: string
}

export const ownServicesTiers = {
  resilience: {
    folder: 'resilience',
    testTimeoutMs: 300_000,
    backend: 'services',
    schedule: 'a few',
    needs: ['redis-server', 'jdk', 'maven'],
  },
  kafka: {
    folder: 'kafka',
    testTimeoutMs: 120_000,
    backend: 'embedded',
    schedule: 'together',
    needs: ['jdk', 'maven'],
    globalSetup: 'test/kafka/shared-broker.ts',
  },
  cluster: {
    folder: 'cluster',
    testTimeoutMs: 300_000,
    backend: 'services',
    schedule: 'together',
    needs: ['redis-server', 'jdk', 'maven', 'haproxy'],
  },
  proxy: {
    folder: 'proxy',
    testTimeoutMs: 120_000,
    backend: 'embedded',
    schedule: 'a few',
    needs: ['haproxy'],
  },
  browser: {
    folder: 'browser',
    testTimeoutMs: 120_000,
    backend: 'embedded',
    schedule: 'together',
    needs: ['chromium'],
  },
  package: {
    folder: 'package',
    testTimeoutMs: 300_000,
    backend: 'embedded',
    schedule: 'together',
    needs: [],
  },
  recipes: {
    folder: 'recipes',
    testTimeoutMs: 300_000,
    backend: 'embedded',
    schedule: 'together',
    needs: ['python', 'php', 'jdk', 'mono', 'fpc'],
  },
  containers: {
    folder: 'containers',
    testTimeoutMs: 300_000,
    backend: 'embedded',
    schedule: 'one by one',
    needs: ['docker', 'compose', 'jdk', 'maven', 'python'],
  },
} as const satisfies Record<string, OwnServicesTier>

/** The tiers that `npm test` leaves to other commands: command → its tiers. */
const LEFT_TO = {
  'npm run test:resilience': ['resilience', 'cluster', 'stress', 'proxy'],
  'npm run test:ecosystem': ['browser', 'package', 'recipes'],
  'npm run test:containers': ['containers'],
} as const
const OPTIONAL: readonly string[] = Object.values(LEFT_TO).flat()
/** Adds one of them to a run: `npm test -- --with=package`. */
const WITH = '--with='

/** The arguments for vitest, and the tiers that are left to other commands. */
export interface Selection {
  args: string[]
  /** Tiers of {@link LEFT_TO} that neither a project, nor a path, nor `--with` selects. */
  leftOut: string[]
}

/** Separates the arguments that vitest does not know. */
export function selectProjects(given: readonly string[]): Selection {
  const added = given.filter((arg) => arg.startsWith(WITH)).map((arg) => arg.slice(WITH.length))
  const unknown = added.find((tier) => !OPTIONAL.includes(tier))
  if (unknown !== undefined) {
    throw new Error(`${WITH}${unknown} names no tier. Use ${OPTIONAL.join(', ')}.`)
  }
  const args = given.filter((arg) => !arg.startsWith(WITH))
  const isNarrowed = projectPatterns(args).some((pattern) => !pattern.startsWith('!'))
  const isNamed = (tier: string) =>
    added.includes(tier) || args.some((arg) => arg.includes(`test/${tier}`))
  if (isNarrowed)
    return { args: [...args, ...added.map((tier) => `--project=${tier}`)], leftOut: [] }
  const leftOut = OPTIONAL.filter((tier) => !isNamed(tier))
  return { args: [...args, ...leftOut.map((tier) => `--project=!${tier}`)], leftOut }
}

/** The commands that run these tiers: `npm run test:ecosystem (browser, package)`. */
export function commandsFor(tiers: readonly string[]): string[] {
  return Object.entries(LEFT_TO).flatMap(([command, its]) => {
    const left = its.filter((tier) => tiers.includes(tier))
    return left.length === 0 ? [] : `${command} (${left.join(', ')})`
  })
}

/** The tiers that `--project` arguments select; all tiers without one. */
export function selectedTiers<T extends object>(
  tiers: T,
  args: readonly string[],
): (keyof T & string)[] {
  const patterns = projectPatterns(args)
  const refused = patterns.filter((pattern) => pattern.startsWith('!'))
  const wanted = patterns.filter((pattern) => !pattern.startsWith('!'))
  return (Object.keys(tiers) as (keyof T & string)[]).filter((name) => {
    if (refused.some((pattern) => matches(name, pattern.slice(1)))) return false
    return wanted.length === 0 || wanted.some((pattern) => matches(name, pattern))
  })
}

function projectPatterns(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    if (arg === '--project') return args[index + 1] ?? []
    return arg.startsWith('--project=') ? arg.slice('--project='.length) : []
  })
}

/** Matches as vitest does: `*` is a wildcard, and case is ignored. */
function matches(name: string, pattern: string): boolean {
  const source = pattern.split('*').map(RegExp.escape).join('.*')
  return new RegExp(`^${source}$`, 'i').test(name)
}
