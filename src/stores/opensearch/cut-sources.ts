const QUOTE = 0x22
const COLON = 0x3a
const BACKSLASH = 0x5c
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Within the object, the list and the object of `{"docs":[{"_source":…}]}`. */
const DOCUMENT_DEPTH = 3
const SOURCE = '"_source"'

export interface CutSources {
  /** The answer with the number of each source, counted from 0, in its place. */
  rest: Buffer
  /** The bytes of each source. */
  sources: Buffer[]
}

/**
 * Cuts the sources out of the answer to an `_mget`, whatever is in them: OpenSearch hands them out byte for
 * byte, and a copy made of these bytes depends on no parser.
 */
export function cutSources(answer: Buffer): CutSources {
  const pieces: Buffer[] = []
  const sources: Buffer[] = []
  let depth = 0
  let restAt = 0
  /** Where a source begins that has not ended. */
  let sourceAt: number | undefined
  for (let at = 0; at < answer.length; at += 1) {
    const byte = answer[at]
    if (byte === QUOTE) {
      const end = stringEnd(answer, at)
      if (depth === DOCUMENT_DEPTH && isSourceName(answer, at, end)) sourceAt = end + 1
      at = end - 1
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      depth += 1
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      depth -= 1
      if (depth === DOCUMENT_DEPTH && sourceAt !== undefined) {
        pieces.push(answer.subarray(restAt, sourceAt), Buffer.from(`${sources.length}`))
        restAt = at + 1
        sources.push(answer.subarray(sourceAt, restAt))
        sourceAt = undefined
      }
    }
  }
  return { rest: Buffer.concat([...pieces, answer.subarray(restAt)]), sources }
}

function isSourceName(answer: Buffer, at: number, end: number): boolean {
  return answer[end] === COLON && answer.toString('latin1', at, end) === SOURCE
}

/** Behind the quote that ends the string which begins at `at`. */
function stringEnd(answer: Buffer, at: number): number {
  let end = at + 1
  while (end < answer.length && answer[end] !== QUOTE) end += answer[end] === BACKSLASH ? 2 : 1
  return end + 1
}
