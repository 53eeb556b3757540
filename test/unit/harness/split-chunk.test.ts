import { expect, it } from 'vitest'
import { splitChunk } from '../../harness/faulty-proxy/split-chunk.ts'

it('slices are all of a chunk, in its order', () => {
  const chunk = Buffer.from(Array.from({ length: 5_000 }, (_, at) => at % 256))
  expect(Buffer.concat(splitChunk(chunk))).toEqual(chunk)
})

it('slices of the head are single bytes, and those of the rest are small', () => {
  const sizes = splitChunk(Buffer.alloc(650)).map(({ length }) => length)
  expect(sizes).toEqual([...Array<number>(400).fill(1), 101, 101, 48])
})

it('nothing has no slices', () => {
  expect(splitChunk(Buffer.alloc(0))).toEqual([])
})
