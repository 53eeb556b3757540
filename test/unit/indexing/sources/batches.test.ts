import { describe, expect, it } from 'vitest'
import { inBatches } from '../../../../src/indexing/sources/ndjson.ts'

const LIMITS = { entries: 3, bytes: 100 }

/** The sizes of entries, batch by batch: the same for groups of any length. */
async function batched(...sizes: number[]): Promise<number[][]> {
  const ofAll = await batchedGroups([sizes])
  expect(await batchedGroups(sizes.map((bytes) => [bytes]))).toEqual(ofAll)
  expect(await batchedGroups([sizes.slice(0, 2), [], sizes.slice(2)])).toEqual(ofAll)
  return ofAll
}

async function batchedGroups(groups: readonly number[][]): Promise<number[][]> {
  const batches: number[][] = []
  const entries = groups.map((sizes) => sizes.map((bytes) => ({ bytes })))
  for await (const batch of inBatches(entries, LIMITS)) {
    batches.push(batch.map(({ bytes }) => bytes))
  }
  return batches
}

describe('batches', () => {
  it('batches have the maximum number of entries in their sequence, and the last one the rest', async () => {
    expect(await batched(1, 2, 3, 4, 5, 6, 7)).toEqual([[1, 2, 3], [4, 5, 6], [7]])
  })

  it('the entry that reaches the byte limit closes its batch', async () => {
    expect(await batched(60, 40, 99, 200, 100, 1)).toEqual([[60, 40], [99, 200], [100], [1]])
  })

  it('each batch counts entries and bytes from zero', async () => {
    expect(await batched(99, 1, 1, 1, 97, 1)).toEqual([[99, 1], [1, 1, 97], [1]])
  })

  it('batches are never empty, even without entries', async () => {
    expect([await batched(), await batched(1, 1, 1)]).toEqual([[], [[1, 1, 1]]])
  })

  it('a full batch is returned before the next entry arrives', async () => {
    async function* slow() {
      yield [{ bytes: 1 }, { bytes: 2 }, { bytes: 3 }]
      await new Promise(() => {})
    }
    const { value } = await inBatches(slow(), LIMITS).next()
    expect(value).toEqual([{ bytes: 1 }, { bytes: 2 }, { bytes: 3 }])
  })
})
