import { type OpenSearch, write } from '../client.ts'
import { BULK_FILTER_PATH, type BulkItemResult, parseBulkResponse } from './bulk-response.ts'

// Far below the 100 MB that a node accepts in one request. A larger item is sent alone.
export const MAX_REQUEST_CHARACTERS = 8 * 1024 * 1024

/** The lines of as many items as fit into one request, at least one. */
export function firstChunk<T>(
  items: readonly T[],
  linesOf: (item: T) => string,
  maxCharacters = MAX_REQUEST_CHARACTERS,
): string[] {
  const chunk: string[] = []
  let characters = 0
  for (const item of items) {
    const lines = linesOf(item)
    characters += lines.length
    if (chunk.length > 0 && characters > maxCharacters) break
    chunk.push(lines)
  }
  return chunk
}

export interface BulkRequest {
  /** OpenSearch rejects the bulk when this alias does not exist. */
  alias: string
  /** The action of each item and its document. */
  lines: readonly string[]
  /** Marks the bulk in the task list of the cluster. */
  opaqueId?: string
}

/** Sends one bulk. @throws Unavailable when it is unknown what was written */
export async function sendBulk(
  client: OpenSearch,
  deadlineMs: number,
  { alias, lines, opaqueId }: BulkRequest,
): Promise<BulkItemResult[]> {
  if (lines.length === 0) return []
  const body = encodeLines(lines) as never
  const request = { index: alias, require_alias: true, filter_path: BULK_FILTER_PATH, body }
  const response = await write(deadlineMs, (call) =>
    client.bulk(request, { ...call, ...(opaqueId !== undefined && { opaqueId }) }),
  )
  return parseBulkResponse(response, lines.length)
}

/** Encodes without joining the lines first: the joined string would be as large as the buffer. */
function encodeLines(lines: readonly string[]): Buffer {
  const body = Buffer.allocUnsafe(lines.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0))
  let end = 0
  for (const text of lines) end += body.write(text, end)
  return body
}
