const NEWLINE = 0x0a

/** A line of the input, without its line break; `number` counts from 1. */
export type Line = { number: number } & ({ bytes: Buffer } | { tooLong: true })

/**
 * Splits a stream into lines. Holds at most `maxBytes` and one chunk: the rest of a longer line is
 * skipped and the line is reported as too long.
 */
export async function* splitLines(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<Line> {
  let number = 1
  let pieces: Buffer[] = []
  let lineBytes = 0

  const finishLine = (): Line => {
    const line =
      lineBytes > maxBytes ? { tooLong: true as const } : { bytes: Buffer.concat(pieces) }
    pieces = []
    lineBytes = 0
    return { number: number++, ...line }
  }
  const append = (piece: Buffer) => {
    lineBytes += piece.length
    if (lineBytes <= maxBytes) pieces.push(piece)
    else pieces = []
  }

  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      append(chunk.subarray(start, end))
      yield finishLine()
      start = end + 1
    }
    append(chunk.subarray(start))
  }
  if (lineBytes > 0) yield finishLine()
}
