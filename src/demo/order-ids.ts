import { toBase62 } from '../lib/base62.ts'

const LENGTH = 6
const GOLDEN_STEP = 0x9e3779b9

/**
 * The id of the demo order at `index`: unique among the 2^32 indices of a seed, and in an order
 * that has nothing to do with the index or with time. Upper and lower case both occur, so that
 * a tie broken by anything but byte order shows.
 *
 * Every seed starts at its own place of the same 2^32 numbers, a golden step from the next seed:
 * the ids of two nearby seeds stay apart for a million orders each.
 */
export function demoOrderId(seed: number, index: number): string {
  const number = scramble(index + Math.imul(seed, GOLDEN_STEP))
  return `ord_${toBase62(BigInt(number), LENGTH)}`
}

// Xor-shifts and odd multiplications can all be undone, so no two numbers meet.
function scramble(number: number): number {
  let bits = number | 0
  bits = Math.imul(bits ^ (bits >>> 16), 0x7feb352d)
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b)
  return (bits ^ (bits >>> 16)) >>> 0
}
