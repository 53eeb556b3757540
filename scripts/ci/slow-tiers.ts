/** Tiers that `.ci/run` runs only when a change may break them, or with `CI_FULL=1`. */
export const slowTiers = [
  'fuzz',
  'resilience',
  'cluster',
  'stress',
  'proxy',
  'browser',
  'package',
  'recipes',
  'containers',
] as const

export type SlowTier = (typeof slowTiers)[number]

const FAULTS = ['resilience', 'cluster', 'stress', 'proxy'] as const
const ECOSYSTEM = ['browser', 'package', 'recipes'] as const
const ALL_BUT_CONTAINERS = slowTiers.filter((tier) => tier !== 'containers')

/**
 * What a change of a file may break, by the first pattern that its path matches. A path that
 * matches none selects all tiers.
 */
const TIERS_BY_PATH: readonly [pattern: RegExp, tiers: readonly SlowTier[]][] = [
  [/^openapi\/page\//, ['browser', 'package']],
  [/^openapi\/(recipes|samples)\//, ECOSYSTEM],
  [/^openapi\/(guide\/|fault-matrix\.md)/, ['browser']],
  [/^openapi\//, ['fuzz', ...ECOSYSTEM]],
  [/^docker\/.*\.md$/, []],
  [/^docker\/edge\//, ['proxy', 'containers']],
  [/^test\/(proxy|fixtures\/proxy)\//, ['proxy']],
  [/^(docker|test\/((harness|support)\/)?containers)\/|^docker-compose\.yml$/, ['containers']],
  [/^\.dockerignore$|^scripts\/(stand-ins|image-figures)[./]/, ['containers']],
  [/^(SECURITY|CHANGELOG|CONTRIBUTING|README)\.md$|^LICENSE$/, []],
  [/^(src|scripts)\/.*\.md$/, []],
  [/^src\/(main|app|services)\.ts$|^src\/config\/|^src\/cli\/(serve\/|signals)/, slowTiers],
  [/^src\/(client|orders-cli)\//, ['package']],
  [/^src\/(demo|openapi)\//, ['fuzz', ...ECOSYSTEM]],
  [/^src\/(indexing|stores)\//, ['fuzz', 'resilience', 'cluster', 'stress', 'package']],
  [/^src\/(observability|cli)\//, [...FAULTS, 'package', 'recipes']],
  [/^src\//, ALL_BUT_CONTAINERS],
  [/^scripts\/(bench|soak|client-types)[./]/, []],
  [/^scripts\/faults[./]|^test\/resilience\//, ['resilience']],
  [/^scripts\/(fuzz|python)[./]/, ['fuzz', 'recipes']],
  [/^test\/cluster\//, ['cluster']],
  [/^test\/stress\//, ['stress']],
  [/^test\/browser\//, ['browser']],
  [/^test\/package\//, ['package']],
  [/^test\/recipes\//, ['recipes']],
  [/^test\/harness\/services\//, [...FAULTS, ...ECOSYSTEM, 'containers']],
  [/^test\/(support|harness)\//, [...FAULTS, ...ECOSYSTEM]],
  [/^test\//, []],
]

/** The selected tiers, with the reason. */
export interface Choice {
  readonly tiers: readonly SlowTier[]
  readonly reason: string
}

/** The files of a change and the commit before it, or the reason why they are unknown. */
export type Change = { files: readonly string[]; base: string } | { unknown: string }

/** The tiers that a change may break; all tiers for an unknown change or a full run. */
export function chooseTiers(change: Change, isFull: boolean): Choice {
  if (isFull) return { tiers: slowTiers, reason: 'CI_FULL=1' }
  if ('unknown' in change) return { tiers: slowTiers, reason: change.unknown }
  const chosen = new Set(change.files.flatMap(tiersOf))
  return {
    tiers: slowTiers.filter((tier) => chosen.has(tier)),
    reason: `${change.files.length} files changed since ${change.base}`,
  }
}

function tiersOf(path: string): readonly SlowTier[] {
  return TIERS_BY_PATH.find(([pattern]) => pattern.test(path))?.[1] ?? slowTiers
}
