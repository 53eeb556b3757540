/** A head of an answer, where everything that tells what follows is: its status, headers and first fields. */
const HEAD_BYTES = 400
/** Single bytes throughout would cost a small machine more than all the rest. */
const REST_BYTES = 101

/** The pieces of a chunk: single bytes as far as its head goes, and small ones after it. */
export function splitChunk(chunk: Buffer): Buffer[] {
  const slices: Buffer[] = []
  for (let at = 0; at < chunk.length; at += slices.at(-1)?.length ?? 0) {
    slices.push(chunk.subarray(at, at + (at < HEAD_BYTES ? 1 : REST_BYTES)))
  }
  return slices
}
