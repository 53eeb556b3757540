import { toBase62 } from '../lib/text/base62.ts'

const LENGTH = 6
const GOLDEN_STEP = 0x9e3779b9

/**
 * The id of the demo order at `index`, unique among the 2^32 indices of a seed. The sort order of
 * ids is unrelated to index and time. Ids mix upper and lower case, which reveals a tiebreak by
 * anything but byte order. Each seed starts at a different offset of the same 2^32 numbers, by the
 * golden ratio. The ids of neighbouring seeds do not collide within a million orders each.
 */
export function demoOrderId(seed: number, index: number): string {
  const number = scramble(index + Math.imul(seed, GOLDEN_STEP))
  return `ord_${toBase62(BigInt(number), LENGTH)}`
}

// Xor-shifts and odd multiplications are invertible, so there are no collisions.
function scramble(number: number): number {
  let bits = number | 0
  bits = Math.imul(bits ^ (bits >>> 16), 0x7feb352d)
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b)
  return (bits ^ (bits >>> 16)) >>> 0
}
