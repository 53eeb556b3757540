const NEWLINE = 0x0a

/** A line of the input, without its line break; `number` counts from 1. */
export type Line = { number: number } & ({ bytes: Buffer } | { tooLong: true })

/**
 * Cuts a stream into lines. No more than `maxBytes` and a chunk are held: the rest of a longer line is
 * passed over, and the line is told as too long.
 */
export async function* splitLines(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<Line> {
  let number = 1
  let held: Buffer[] = []
  let heldBytes = 0

  const take = (): Line => {
    const line = heldBytes > maxBytes ? { tooLong: true as const } : { bytes: Buffer.concat(held) }
    held = []
    heldBytes = 0
    return { number: number++, ...line }
  }
  const hold = (piece: Buffer) => {
    heldBytes += piece.length
    if (heldBytes <= maxBytes) held.push(piece)
    else held = []
  }

  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      hold(chunk.subarray(start, end))
      yield take()
      start = end + 1
    }
    hold(chunk.subarray(start))
  }
  if (heldBytes > 0) yield take()
}
