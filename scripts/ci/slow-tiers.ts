/** Tiers that `.ci/run` runs only when a change may break them, or with `CI_FULL=1`. */
export const slowTiers = ['fuzz', 'browser', 'package', 'recipes'] as const

export type SlowTier = (typeof slowTiers)[number]

/**
 * What a change of a file may break, by the first pattern that its path matches. A path that matches none selects
 * all tiers.
 */
const TIERS_BY_PATH: readonly [pattern: RegExp, tiers: readonly SlowTier[]][] = [
  [/^openapi\/page\//, ['browser', 'package']],
  [/^openapi\/(recipes|samples)\//, ['recipes', 'browser', 'package']],
  [/^openapi\/(guide\/|fault-matrix\.md)/, ['browser']],
  [/^openapi\//, ['fuzz', 'browser', 'package']],
  [/^(SECURITY|CHANGELOG|CONTRIBUTING|README)\.md$|^docker\/|^LICENSE$/, []],
  [/^src\/.*\.md$/, []],
  [/^src\/(client|orders-command|orders-cli)\//, ['package']],
  [/^src\/(indexing|stores|metrics|tracing|observability|demo)\//, ['fuzz']],
  [/^src\/(commands|cli|operations|readiness)/, []],
  [/^src\//, ['fuzz', 'browser', 'recipes', 'package']],
  [/^scripts\/(bench|soak|faults|traffic|client-types)[./]/, []],
  [/^scripts\/(fuzz|python)[./]/, ['fuzz', 'recipes']],
  [/^test\/browser\//, ['browser']],
  [/^test\/package\//, ['package']],
  [/^test\/recipes\//, ['recipes']],
  [/^test\/(support|harness)\//, ['browser', 'package', 'recipes']],
  [/^test\//, []],
]

/** The selected tiers, with the reason. */
export interface Choice {
  readonly tiers: readonly SlowTier[]
  readonly reason: string
}

/** What is known of a change: its files and the commit before it, or why that is not known. */
export type Change = { files: readonly string[]; base: string } | { unknown: string }

/** Chooses the tiers that a change may break: all of them where the change is not known, or the run is a full one. */
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
