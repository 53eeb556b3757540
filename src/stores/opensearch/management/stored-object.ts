import { damagedDocument } from '../client/errors.ts'
import type { FoundDocument, IndexTarget } from '../client/search/document-search.ts'

/**
 * Returns the object that a document stores in `name`.
 * @throws Unavailable when the object or one of its `fields` is missing: to skip the document would
 * hide a change, miscount or repeat a request
 */
export function storedObject<T extends object>(
  { index }: Pick<IndexTarget, 'index'>,
  { id, source }: Pick<FoundDocument, 'id' | 'source'>,
  name: string,
  fields: readonly (keyof T & string)[],
): T {
  const stored = Object(Object(source)[name]) as T
  if (fields.every((field) => stored[field] !== undefined)) return stored
  throw damagedDocument(index, id)
}
