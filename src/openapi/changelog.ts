import { type Static, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { parseInstant } from '../lib/instant.ts'
import { operationIds } from './operations.ts'

/** The guide promises that both versions are served for at least this long. */
export const MONTHS_UNTIL_SUNSET = 12

const common = {
  /** Never changes: feed readers identify an entry by it. */
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
    /** The operations whose responses announce the deprecation. */
    operations: Type.Array(Type.Union(operationIds.map((id) => Type.Literal(id))), { minItems: 1 }),
    /** Present when only fields are deprecated, each by schema and name: `Order.promocode`. */
    fields: Type.Optional(
      Type.Array(Type.String({ pattern: '^[A-Z][A-Za-z]*\\.[a-z0-9_]+$' }), { minItems: 1 }),
    ),
    since: instant,
    sunset: instant,
  },
  { additionalProperties: false },
)
const ChangelogEntry = Type.Union([Announcement, Deprecated])

/** An entry of `openapi/changes.json`, in Portuguese. */
export type ChangelogEntry = Static<typeof ChangelogEntry>
export type Deprecation = Static<typeof Deprecated>

const changelog = TypeCompiler.Compile(Type.Array(ChangelogEntry))

/**
 * Parses the changelog.
 * @throws Error naming the entry and the rule that it violates. The rules: form, valid dates,
 *   newest first, unique ids, and at least a year from a deprecation to its sunset
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
    throw new Error('changes.json: two entries share an id; ids must be unique')
  }
  return list
}

/** The deprecations of a changelog. */
export function deprecationsIn(list: readonly ChangelogEntry[]): Deprecation[] {
  return list.filter((change) => change.kind === 'deprecated')
}

function findViolation(
  change: ChangelogEntry,
  newer: ChangelogEntry | undefined,
): string | undefined {
  if (typeof parseInstant(`${change.date}T00:00:00Z`) === 'string') return 'date is not a valid day'
  if (newer !== undefined && newer.date < change.date) return 'must precede older entries'
  if (change.kind !== 'deprecated') return undefined
  for (const name of ['since', 'sunset'] as const) {
    if (typeof parseInstant(change[name]) === 'string') return `${name} is not a valid instant`
  }
  const earliest = new Date(change.since)
  earliest.setUTCMonth(earliest.getUTCMonth() + MONTHS_UNTIL_SUNSET)
  if (new Date(change.sunset) >= earliest) return undefined
  return `sunset must be at least ${MONTHS_UNTIL_SUNSET} months after since`
}
