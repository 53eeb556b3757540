import type { HeatResult } from '../measuring/race.ts'

interface HeatOf<S> {
  name: string
  sides: readonly S[]
}

/** So few that none is measured long after the first, however many there are to compare. */
const BESIDE_THE_FIRST = 4

/** The same as several heats, each with the first side, which is what the others are compared with. */
export function inSmallHeats<S>({ name, sides: [first, ...others] }: HeatOf<S>): HeatOf<S>[] {
  if (first === undefined) return []
  const count = Math.ceil(others.length / BESIDE_THE_FIRST)
  return Array.from({ length: count }, (_, at) => {
    const from = at * BESIDE_THE_FIRST
    return { name, sides: [first, ...others.slice(from, from + BESIDE_THE_FIRST)] }
  })
}

/** The heat that a side was measured in. */
export function heatOf(results: readonly HeatResult[], name: string, side: string) {
  return results.find((result) => result.name === name && side in result.samples)
}
