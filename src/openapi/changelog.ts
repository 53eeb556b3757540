import { type Static, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { parseInstant } from '../lib/instant.ts'
import { operationIds } from './operations.ts'

/** What the chapter on changes promises: both versions answer side by side for at least as long. */
export const MONTHS_UNTIL_SUNSET = 12

const common = {
  /** Stays for ever: readers of the feed know an entry by it. */
  id: Type.String({ pattern: '^[a-z0-9-]{1,60}$' }),
  date: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
  title: Type.String({ minLength: 1 }),
  text: Type.String({ minLength: 1 }),
}
const instant = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z$' })

const Announcement = Type.Object(
  { ...common, kind: Type.Union([Type.Literal('added'), Type.Literal('announced')]) },
  { additionalProperties: false },
)
const Deprecated = Type.Object(
  {
    ...common,
    kind: Type.Literal('deprecated'),
    /** Those of whose answers it is told. */
    operations: Type.Array(Type.Union(operationIds.map((id) => Type.Literal(id))), { minItems: 1 }),
    /** Where it is about fields alone: each as the description names it, such as `Order.promocode`. */
    fields: Type.Optional(
      Type.Array(Type.String({ pattern: '^[A-Z][A-Za-z]*\\.[a-z0-9_]+$' }), { minItems: 1 }),
    ),
    since: instant,
    sunset: instant,
  },
  { additionalProperties: false },
)
const ChangelogEntry = Type.Union([Announcement, Deprecated])

/** A change of the API, in Portuguese, as `openapi/changes.json` has it. */
export type ChangelogEntry = Static<typeof ChangelogEntry>
export type Deprecation = Static<typeof Deprecated>

const changelog = TypeCompiler.Compile(Type.Array(ChangelogEntry))

/**
 * Reads a list of changes.
 * @throws Error telling which entry breaks which rule: its form, real dates, newest first, ids of their own, and
 * at least a year from a deprecation to its sunset
 */
export function parseChangelog(json: string): ChangelogEntry[] {
  const list: unknown = JSON.parse(json)
  if (!changelog.Check(list)) {
    const fault = changelog.Errors(list).First()
    throw new Error(
      `changes.json${fault?.path ?? ''}: ${fault?.message ?? 'not a list of changes'}`,
    )
  }
  for (const [at, change] of list.entries()) {
    const violation = findViolation(change, list[at - 1])
    if (violation !== undefined) throw new Error(`changes.json, ${change.id}: ${violation}`)
  }
  if (new Set(list.map(({ id }) => id)).size < list.length) {
    throw new Error('changes.json: two entries have one id')
  }
  return list
}

/** The deprecations among them. */
export function deprecationsIn(list: readonly ChangelogEntry[]): Deprecation[] {
  return list.filter((change) => change.kind === 'deprecated')
}

function findViolation(
  change: ChangelogEntry,
  newer: ChangelogEntry | undefined,
): string | undefined {
  if (typeof parseInstant(`${change.date}T00:00:00Z`) === 'string') return 'date is no day'
  if (newer !== undefined && newer.date < change.date) return 'comes after an older one'
  if (change.kind !== 'deprecated') return undefined
  for (const name of ['since', 'sunset'] as const) {
    if (typeof parseInstant(change[name]) === 'string') return `${name} is no instant`
  }
  const earliest = new Date(change.since)
  earliest.setUTCMonth(earliest.getUTCMonth() + MONTHS_UNTIL_SUNSET)
  if (new Date(change.sunset) >= earliest) return undefined
  return `sunset has to be ${MONTHS_UNTIL_SUNSET} months after since, or later`
}
