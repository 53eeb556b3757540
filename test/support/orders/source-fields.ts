import type { TSchema } from '@sinclair/typebox'
import { SourceOrder } from '../../../src/indexing/projection/source-order.ts'

/** A deletion sets it to `true`. */
const OF_DELETIONS = ['deleted']

/** The fields of a source order that have a value in none of the samples, by path. */
export function unusedFields(samples: readonly SourceOrder[], except: readonly string[] = []) {
  const used = new Set(samples.flatMap((sample) => valuesIn(sample)))
  const optional = [...OF_DELETIONS, ...except]
  return fieldsOf(SourceOrder).filter((field) => !used.has(field) && !optional.includes(field))
}

const inside = (path: string, name: string) => (path === '' ? name : `${path}.${name}`)

/** The fields of an object by path, with those of the objects and lists in it. */
export function fieldsOf(schema: TSchema, path = ''): string[] {
  const value: TSchema = schema['anyOf']?.[0] ?? schema
  const object: TSchema = value['items'] ?? value
  const properties: Record<string, TSchema> = object['properties'] ?? {}
  return Object.entries(properties).flatMap(([name, inner]) => [
    inside(path, name),
    ...fieldsOf(inner, inside(path, name)),
  ])
}

function valuesIn(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesIn(item, path))
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value)
    .filter(([, inner]) => inner != null)
    .flatMap(([name, inner]) => [inside(path, name), ...valuesIn(inner, inside(path, name))])
}
