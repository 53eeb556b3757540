import leven from 'leven'

/**
 * Returns the known name that `name` probably means: the nearest one, with at most a third of its
 * letters changed. Case and separators do not count. The cost grows with the length of `name`, so
 * callers truncate it first.
 */
export function nearestName<Name extends string>(
  name: string,
  known: readonly Name[],
): Name | undefined {
  const normalized = normalizeName(name)
  const [nearest] = known
    .map((candidate) => ({ candidate, ...compare(normalized, normalizeName(candidate)) }))
    .filter(({ distance, threshold }) => distance <= threshold)
    .sort((one, other) => one.distance - other.distance || other.prefixLength - one.prefixLength)
  return nearest?.candidate
}

/** Maps `createdGte`, `created-gte` and `created_gte[]` to one name. */
export function normalizeName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

function compare(one: string, other: string) {
  const threshold = Math.round(Math.min(one.length, other.length) / 3)
  // `leven` stops counting at `maxDistance`.
  const distance = leven(one, other, { maxDistance: threshold + 1 })
  return { threshold, distance, prefixLength: commonPrefixLength(one, other) }
}

/** Breaks ties: `createdlte` is as far from `createdgte` as from `createdlt`. */
function commonPrefixLength(one: string, other: string): number {
  let length = 0
  while (length < one.length && one[length] === other[length]) length += 1
  return length
}
