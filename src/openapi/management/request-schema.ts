import type { TObject } from '@sinclair/typebox'
import type { Body } from '../../http/management/body.ts'
import type { Json } from '../schemas.ts'

type JsonObject = Record<string, Json>

/** The schema of a body. What the errors say about a field is its description. */
export function bodySchema({ schema }: Body<TObject>): JsonObject {
  const closed = { ...schema, additionalProperties: false }
  return convert(closed, (expected) => ({ description: `${capitalize(expected)}.` }))
}

/** The schema of a source order, without the English expectations of the indexer. */
export function sourceSchema(schema: TObject): JsonObject {
  return convert(schema, () => ({}))
}

function convert(schema: object, describe: (expected: string) => JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(schema), (_key, value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    const { expected, ...rest } = value
    // The indexer's name of the format; its parser accepts what RFC 3339 defines.
    const format = rest.format === 'instant' && { format: 'date-time' }
    return { ...rest, ...format, ...(typeof expected === 'string' && describe(expected)) }
  })
}

const capitalize = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`
