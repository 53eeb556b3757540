import { type ChangelogEntry, type Deprecation, deprecationsIn } from './changelog.ts'
import type { OperationId } from './operations.ts'
import type { Json } from './schemas.ts'

interface Operation {
  operationId: OperationId
  description: string
  responses: Record<string, { headers: object }>
}

/**
 * Adds the deprecation headers to a deprecated operation. Also marks the operation and adds a note,
 * unless only fields are deprecated.
 */
export function markDeprecated<T extends Operation>(
  operation: T,
  changes: readonly ChangelogEntry[],
): T {
  const deprecation = deprecationFor(operation.operationId, deprecationsIn(changes))
  if (deprecation === undefined) return operation
  const responses = Object.entries(operation.responses).map(([status, response]) => [
    status,
    { ...response, headers: { ...response.headers, ...headersOf(deprecation) } },
  ])
  const withHeaders = { ...operation, responses: Object.fromEntries(responses) }
  if (deprecation.fields !== undefined) return withHeaders
  return {
    ...withHeaders,
    deprecated: true,
    description: `${operation.description}\n\n**Descontinuada.** ${deprecation.text}`,
  }
}

/**
 * Marks the deprecated fields of the named schemas.
 * @throws Error naming a field that does not exist
 */
export function markDeprecatedFields(
  schemas: Record<string, Json>,
  changes: readonly ChangelogEntry[],
): Record<string, Json> {
  const result = structuredClone(schemas)
  for (const { id, fields = [], text } of deprecationsIn(changes)) {
    for (const path of fields) {
      const [name = '', field = ''] = path.split('.')
      const schema = result[name] as { properties?: Record<string, Json> } | undefined
      const property = schema?.properties?.[field] as { description?: string } | undefined
      if (property === undefined)
        throw new Error(`changes.json, ${id}: field ${path} does not exist`)
      const note = `**Descontinuado.** ${text}`
      const description = [property.description, note].filter(Boolean).join('\n\n')
      Object.assign(property, { deprecated: true, description })
    }
  }
  return result
}

/**
 * Returns the deprecation that responses announce: of the operation before fields, newest first.
 */
export function deprecationFor(
  operation: OperationId,
  deprecations: readonly Deprecation[],
): Deprecation | undefined {
  const own = deprecations.filter(({ operations }) => operations.includes(operation))
  return own.find(({ fields }) => fields === undefined) ?? own[0]
}

function headersOf({ since, sunset }: Deprecation) {
  return {
    Deprecation: {
      description: `Descontinuada desde ${since} (RFC 9745).`,
      required: true,
      schema: { type: 'string', const: deprecationDate(since) },
    },
    Sunset: {
      description: 'A partir de quando pode deixar de ser atendida (RFC 8594).',
      required: true,
      schema: { type: 'string', const: sunsetDate(sunset) },
    },
    Link: {
      description: 'O que uma descontinuação significa.',
      required: true,
      schema: { type: 'string', const: DEPRECATION_LINK },
    },
  }
}

/** Links to the chapter that explains and lists deprecations. */
export const DEPRECATION_LINK = '</docs#como-a-api-muda>; rel="deprecation"; type="text/html"'

/** Formats an instant for the header `Deprecation`: seconds since the epoch. */
export function deprecationDate(instant: string): string {
  return `@${Date.parse(instant) / 1000}`
}

/** Formats an instant for the header `Sunset`: an HTTP date. */
export function sunsetDate(instant: string): string {
  return new Date(instant).toUTCString()
}
