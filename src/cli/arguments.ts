import { InvalidArgumentError } from 'commander'
import { isAccountId } from '../auth/account-ids.ts'
import { type Scope, scopes } from '../auth/key-store.ts'
import { parseDuration } from '../lib/durations.ts'
import { parseInstant } from '../lib/instant.ts'
import { isDay } from '../management/usage/usage-day.ts'

/** Parses an account id. */
export function account(text: string): string {
  if (isAccountId(text)) return text
  throw new InvalidArgumentError('Expected 1 to 64 letters, digits, "_" or "-".')
}

/** Parses scopes separated by commas; an empty string grants no access. */
export function scopeList(text: string): Scope[] {
  return [...new Set(list(text))].map((name) => {
    const scope = scopes.find((known) => known === name)
    if (scope !== undefined) return scope
    throw new InvalidArgumentError(`Expected one of ${scopes.join(', ')}, or '' for no access.`)
  })
}

/** Parses a duration such as 90d, 24h, 30m or 45s into milliseconds. */
export function duration(text: string): number {
  const durationMs = parseDuration(text)
  if (durationMs !== undefined) return durationMs
  throw new InvalidArgumentError('Expected a duration such as 90d, 24h or 30m.')
}

/** Parses a duration from `nowMs` or an instant into future epoch milliseconds. */
export function expiry(nowMs: number): (text: string) => number {
  return (text) => {
    const instant = parseInstant(text)
    const at = typeof instant === 'object' ? instant.floorMs : nowMs + (parseDuration(text) ?? 0)
    if (at > nowMs) return at
    throw new InvalidArgumentError(
      'Expected a duration such as 90d, or an instant in the future such as 2099-01-01T00:00:00Z.',
    )
  }
}

/** Parses an instant with time and zone into epoch milliseconds. */
export function instant(text: string): number {
  const parsed = parseInstant(text)
  if (typeof parsed === 'object') return parsed.floorMs
  throw new InvalidArgumentError('Expected an instant with zone, such as 2026-03-01T00:00:00Z.')
}

/** Parses a UTC day. */
export function day(text: string): string {
  if (isDay(text)) return text
  throw new InvalidArgumentError('Expected a UTC day such as 2026-11-01.')
}

/** Parses values separated by commas; an empty string is an empty list. */
export function list(text: string): string[] {
  return text === '' ? [] : text.split(',').map((part) => part.trim())
}

/** Parses an integer between `from` and `to` inclusive. `kind`: what the error expects. */
export function integer(from: number, to = Number.MAX_SAFE_INTEGER, kind = 'an integer') {
  const range = to === Number.MAX_SAFE_INTEGER ? `: ${from} or greater` : ` from ${from} to ${to}`
  return (text: string): number => {
    const number = Number(text)
    if (/^\d+$/.test(text) && number >= from && number <= to) return number
    throw new InvalidArgumentError(`Expected ${kind}${range}.`)
  }
}
