// Far below what a node takes in one request (100 MB); an item larger than this goes alone.
const MAX_REQUEST_CHARACTERS = 8 * 1024 * 1024

/** The lines of as many items as one request takes, at least one. */
export function firstChunk<T>(items: readonly T[], linesOf: (item: T) => string): string[] {
  const chunk: string[] = []
  let characters = 0
  for (const item of items) {
    const lines = linesOf(item)
    characters += lines.length
    if (chunk.length > 0 && characters > MAX_REQUEST_CHARACTERS) break
    chunk.push(lines)
  }
  return chunk
}
