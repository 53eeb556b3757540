import { expect, it } from 'vitest'
import { splitChunk } from '../../harness/faulty-proxy/split-chunk.ts'

it('splitChunk returns the whole chunk in order', () => {
  const chunk = Buffer.from(Array.from({ length: 5_000 }, (_, at) => at % 256))
  expect(Buffer.concat(splitChunk(chunk))).toEqual(chunk)
})

it('splitChunk returns single bytes of the head and small pieces of the rest', () => {
  const sizes = splitChunk(Buffer.alloc(650)).map(({ length }) => length)
  expect(sizes).toEqual([...Array<number>(400).fill(1), 101, 101, 48])
})

it('splitChunk of an empty chunk returns nothing', () => {
  expect(splitChunk(Buffer.alloc(0))).toEqual([])
})
