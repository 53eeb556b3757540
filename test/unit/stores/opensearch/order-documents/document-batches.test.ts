import { describe, expect, it } from 'vitest'
import { orderByteLength } from '../../../../../src/stores/opensearch/order-documents/checksum-header.ts'
import { documentBatches } from '../../../../../src/stores/opensearch/order-documents/document-batches.ts'

const MEGABYTE = 1024 * 1024
const headerOf = (bytes: number) => `c0ffee00-${bytes.toString(16).padStart(8, '0')}`

/** The number of documents of each batch, for documents with these checksum headers. */
const sizes = (headers: readonly unknown[]) =>
  [...documentBatches(headers, orderByteLength)].map((batch) => batch.length)

describe('documentBatches', () => {
  it('a batch has at most 500 documents', () => {
    expect(sizes(Array(1_001).fill(headerOf(100)))).toEqual([500, 500, 1])
  })

  it('a batch has at most 4 MB, unless its only document is larger', () => {
    expect(sizes(Array(5).fill(headerOf(2 * MEGABYTE)))).toEqual([2, 2, 1])
    expect(sizes([100, 9 * MEGABYTE, 9 * MEGABYTE, 100].map(headerOf))).toEqual([1, 1, 1, 1])
  })

  it('a batch has at most 50 documents of unknown size', () => {
    expect(sizes(Array(101).fill(undefined))).toEqual([50, 50, 1])
    expect(sizes(Array(51).fill('not a header'))).toEqual([50, 1])
  })

  it('keeps every document, in order', () => {
    const documents = Array.from({ length: 1_200 }, (_, n) => n)
    expect([...documentBatches(documents, () => 10_000)].flat()).toEqual(documents)
  })

  it('has no batch without documents', () => {
    expect(sizes([])).toEqual([])
  })
})
