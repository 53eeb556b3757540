/** Length of the response head: status, headers and first fields. */
const HEAD_BYTES = 400
/** Larger pieces after the head, because single bytes throughout are too slow. */
const REST_BYTES = 101

/** Splits a chunk into single bytes of the head and small pieces after it. */
export function splitChunk(chunk: Buffer): Buffer[] {
  const slices: Buffer[] = []
  for (let at = 0; at < chunk.length; at += slices.at(-1)?.length ?? 0) {
    slices.push(chunk.subarray(at, at + (at < HEAD_BYTES ? 1 : REST_BYTES)))
  }
  return slices
}
