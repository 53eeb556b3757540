import { InvalidArgumentError } from 'commander'
import { type Scope, scopes } from '../auth/key-store.ts'
import { accountIdPattern } from '../lib/ids.ts'
import { parseInstant } from '../lib/instant.ts'

const ACCOUNT_ID = new RegExp(accountIdPattern)
const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** An account id. */
export function account(text: string): string {
  if (ACCOUNT_ID.test(text)) return text
  throw new InvalidArgumentError('Expected 1 to 64 letters, digits, "_" or "-".')
}

/** Scopes separated by commas; an empty text is no access at all. */
export function scopeList(text: string): Scope[] {
  const names = text === '' ? [] : text.split(',')
  return names.map((name) => {
    const scope = scopes.find((known) => known === name)
    if (scope !== undefined) return scope
    throw new InvalidArgumentError(`Expected some of ${scopes.join(',')}, or '' for no access.`)
  })
}

/** A span such as 90d, 24h, 30m or 45s, in milliseconds. */
export function duration(text: string): number {
  const spanMs = parseSpan(text)
  if (spanMs !== undefined) return spanMs
  throw new InvalidArgumentError('Expected a span such as 90d, 24h or 30m.')
}

/** A span from `nowMs`, or an instant; epoch milliseconds, in the future. */
export function expiry(nowMs: number): (text: string) => number {
  return (text) => {
    const instant = parseInstant(text)
    const at = typeof instant === 'object' ? instant.floorMs : nowMs + (parseSpan(text) ?? 0)
    if (at > nowMs) return at
    throw new InvalidArgumentError(
      'Expected a span such as 90d, or an instant in the future such as 2099-01-01T00:00:00Z.',
    )
  }
}

function parseSpan(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS]
}
