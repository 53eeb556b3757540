import type { RenderedOrder } from './order-store.ts'

const PREFIX = Buffer.from('{"object":"list","data":[')
const COMMA = Buffer.from(',')

/** The list envelope of the contract around orders that are rendered already; nothing is parsed. */
export function renderList(rows: readonly RenderedOrder[], nextCursor: string | null): Buffer {
  const suffix = `],"has_more":${nextCursor !== null},"next_cursor":${JSON.stringify(nextCursor)}}`
  const parts: Uint8Array[] = [PREFIX]
  for (const row of rows) {
    if (parts.length > 1) parts.push(COMMA)
    parts.push(row.json)
  }
  parts.push(Buffer.from(suffix))
  return Buffer.concat(parts)
}
