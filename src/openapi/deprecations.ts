import { type ChangelogEntry, type Deprecation, deprecationsIn } from './changelog.ts'
import type { OperationId } from './operations.ts'
import type { Json } from './schemas.ts'

interface Operation {
  operationId: OperationId
  description: string
  responses: Record<string, { headers: object }>
}

/**
 * The operation as the changes leave it: the same, or with the headers that tell of a deprecation; and marked, with a
 * note, where it is about more than fields.
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
 * The named schemas, with the fields marked that are deprecated.
 * @throws Error naming a field that there is not
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
      if (property === undefined) throw new Error(`changes.json, ${id}: there is no field ${path}`)
      const note = `**Descontinuado.** ${text}`
      const description = [property.description, note].filter(Boolean).join('\n\n')
      Object.assign(property, { deprecated: true, description })
    }
  }
  return result
}

/** Of those of an operation, the one that its answers tell: of all of it before that of fields, the newest first. */
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

/** The chapter that says what a deprecation means, and lists them. */
export const DEPRECATION_LINK = '</docs#como-a-api-muda>; rel="deprecation"; type="text/html"'

/** An instant as the header `Deprecation` has it: seconds since the epoch. */
export function deprecationDate(instant: string): string {
  return `@${Date.parse(instant) / 1000}`
}

/** An instant as the header `Sunset` has it: a date of HTTP. */
export function sunsetDate(instant: string): string {
  return new Date(instant).toUTCString()
}
