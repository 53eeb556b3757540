import type { Kind } from './columns.ts'

/** A cell for programs: values as the API has them, lists and maps as JSON. */
export function plainCell(value: unknown, _kind: Kind): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
