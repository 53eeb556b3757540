const QUOTE = 0x22
const COLON = 0x3a
const BACKSLASH = 0x5c
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Within the object, the list and the object of `{"docs":[{"_source":…}]}`. */
const DOCUMENT_DEPTH = 3
const SOURCE = '"_source"'

export interface MgetSources {
  /** The response with each source replaced by its index. */
  envelope: Buffer
  sources: Buffer[]
}

/**
 * Extracts the sources of an `_mget` response. OpenSearch returns a source byte for byte, so a copy
 * of these bytes depends on no parser.
 */
export function extractSources(response: Buffer): MgetSources {
  const envelopeParts: Buffer[] = []
  const sources: Buffer[] = []
  let depth = 0
  let envelopeAt = 0
  /** Start of the current source. */
  let sourceAt: number | undefined
  for (let at = 0; at < response.length; at += 1) {
    const byte = response[at]
    if (byte === QUOTE) {
      const end = afterString(response, at)
      if (depth === DOCUMENT_DEPTH && isSourceName(response, at, end)) sourceAt = end + 1
      at = end - 1
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      depth += 1
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      depth -= 1
      if (depth === DOCUMENT_DEPTH && sourceAt !== undefined) {
        envelopeParts.push(
          response.subarray(envelopeAt, sourceAt),
          Buffer.from(`${sources.length}`),
        )
        envelopeAt = at + 1
        sources.push(response.subarray(sourceAt, envelopeAt))
        sourceAt = undefined
      }
    }
  }
  return { envelope: Buffer.concat([...envelopeParts, response.subarray(envelopeAt)]), sources }
}

function isSourceName(bytes: Buffer, at: number, end: number): boolean {
  return bytes[end] === COLON && bytes.toString('latin1', at, end) === SOURCE
}

/** The offset after the closing quote of the string that starts at `at`. */
function afterString(bytes: Buffer, at: number): number {
  let end = at + 1
  while (end < bytes.length && bytes[end] !== QUOTE) end += bytes[end] === BACKSLASH ? 2 : 1
  return end + 1
}
