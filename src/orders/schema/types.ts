import { type Static, type TProperties, type TSchema, Type } from '@sinclair/typebox'

interface Doc {
  description: string
  examples: unknown[]
}

type Doctype = [description: string, ...examples: unknown[]]

const doc = ([description, ...examples]: Doctype): Doc => ({ description, examples })

/** A nullable scalar, as the type list of JSON Schema 2020-12 (OpenAPI 3.1). */
export function nullable<T extends TSchema>(schema: T) {
  const values = schema['enum'] && { enum: [...schema['enum'], null] }
  return Type.Unsafe<Static<T> | null>({ ...schema, ...values, type: [schema['type'], 'null'] })
}

/** Always null. Generators of clients refuse the type `null` alone, so the type is one of two. */
export const alwaysNull = (type: 'string' | 'integer', ...about: Doctype) =>
  Type.Unsafe<null>({ type: [type, 'null'], const: null, ...doc(about) })

/** A nullable object. */
export const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** A string of any content. */
export const text = (...about: Doctype) => Type.String(doc(about))

/** A string that matches `expression`. */
export const pattern = (expression: string, ...about: Doctype) =>
  Type.String({ pattern: expression, ...doc(about) })

/** Money, as an integer of cents. Without `int64`, generators for Java, Go and C# take 32 bits. */
export const cents = (...about: Doctype) => Type.Integer({ format: 'int64', ...doc(about) })

/** An integer of at least `minimum`. */
export const integer = (minimum: number, ...about: Doctype) =>
  Type.Integer({ minimum, ...doc(about) })

/** An RFC 3339 instant, as `date-time`. */
export const instant = (...about: Doctype) => Type.String({ format: 'date-time', ...doc(about) })

/** One of a closed list of values; `/v1` adds none. */
export const oneOf = <T extends string>(values: readonly T[], ...about: Doctype) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], ...doc(about) })

/** One of an open list of values: documented, but not enforced, because `/v1` can add values. */
export const openList = (values: readonly string[], ...about: Doctype) =>
  Type.String({ 'x-extensible-enum': [...values], ...doc(about) })

/** A named object. Every key is always present; clients must ignore unknown keys. */
export const resource = <T extends TProperties>(
  title: string,
  description: string,
  properties: T,
) => Type.Object(properties, { title, description })
