/** A pseudorandom generator, deterministic for its keys on every machine. */
export interface Random {
  /** A number from 0 (inclusive) to 1 (exclusive). */
  next(): number
  /** An integer from `min` to `max`, both inclusive. */
  between(min: number, max: number): number
  /** True with the given probability, 0 to 1. */
  chance(probability: number): boolean
  /** One element of a non-empty list. */
  pick<T>(list: readonly T[]): T
  /** A string of `length` decimal digits. */
  digits(length: number): string
}

const WARM_UP_ROUNDS = 12

/**
 * Creates an sfc32 generator from three keys, each modulo 2^32. Its 128-bit state keeps the streams
 * of a million neighbouring indices distinct; a 32-bit state would let them overlap.
 */
export function createRandom(seed: number, stream: number, index: number): Random {
  let a = seed | 0
  let b = stream | 0
  let c = index | 0
  let counter = 1

  function next(): number {
    const word = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + word) | 0
    return (word >>> 0) / 2 ** 32
  }

  // Discard the first words, which correlate with the keys: seeds 1 and 2 would start alike.
  for (let round = 0; round < WARM_UP_ROUNDS; round += 1) next()

  return {
    next,
    between: (min, max) => min + Math.floor(next() * (max - min + 1)),
    chance: (probability) => next() < probability,
    pick: <T>(list: readonly T[]) => list[Math.floor(next() * list.length)] as T,
    digits: (length) => Array.from({ length }, () => Math.floor(next() * 10)).join(''),
  }
}
