const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
/** What a timer can wait, and a person too. */
const LONGEST_MS = 7 * UNIT_MS.d

/** A span such as 30s, 5m or 1h in milliseconds, from a second to a week; `null` for anything else. */
export function parseInterval(text: string): number | null {
  const [, number, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  if (number === undefined) return null
  const ms = Number(number) * UNIT_MS[unit as keyof typeof UNIT_MS]
  return ms >= UNIT_MS.s && ms <= LONGEST_MS ? ms : null
}
