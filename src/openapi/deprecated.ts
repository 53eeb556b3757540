import { type Change, type Deprecation, deprecationsIn } from './changes.ts'
import type { OperationId } from './operations.ts'

interface Operation {
  operationId: OperationId
  description: string
  responses: Record<string, { headers: object }>
}

/** The operation as the changes leave it: the same, or marked, with a note and the headers that tell of it. */
export function marked<T extends Operation>(operation: T, changes: readonly Change[]): T {
  const deprecation = deprecationsIn(changes).find(({ operations }) =>
    operations.includes(operation.operationId),
  )
  if (deprecation === undefined) return operation
  const responses = Object.entries(operation.responses).map(([status, response]) => [
    status,
    { ...response, headers: { ...response.headers, ...headersOf(deprecation) } },
  ])
  return {
    ...operation,
    deprecated: true,
    description: `${operation.description}\n\n**Descontinuada.** ${deprecation.text}`,
    responses: Object.fromEntries(responses),
  }
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
