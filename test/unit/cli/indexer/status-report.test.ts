import { describe, expect, it } from 'vitest'
import {
  indexStatus,
  MAX_ADVISED_SHARD_BYTES,
  statusLines,
} from '../../../../src/cli/indexer/status-report.ts'
import type { ShardPart } from '../../../../src/indexing/consistency-check/index-inspection.ts'

/** The status of one index whose shards have these sizes. */
const statusOf = (...sizes: (number | null)[]) =>
  statusOfUse(
    { read: true, fed: true },
    sizes.map((bytes, shard) => ({ shard, documents: 10, bytes })),
  )

const statusOfUse = (use: { read: boolean; fed: boolean }, shards: ShardPart[] = []) => {
  const index = { name: 'orders-v1', ...use, documents: 20, bytes: 5, shards }
  return indexStatus(
    {
      documents: 20,
      orders: 20,
      newestWrittenKey: null,
      indices: [index],
      missingFilters: [],
      missingTargets: [],
      pendingTargets: [],
      writer: null,
      writeTimestamps: { lastWriteTimestamp: null, clockMs: 0 },
    },
    null,
  )
}

const oversized = (lines: readonly string[]) =>
  lines.find((line) => line.startsWith('oversized shards:'))

it.each([
  [{ read: true, fed: true }, 'read, write target'],
  [{ read: true, fed: false }, 'read'],
  [{ read: false, fed: true }, 'write target'],
  [{ read: false, fed: false }, 'not used'],
])('an index with %j is shown as "%s"', (use, text) => {
  expect(statusLines(statusOfUse(use))).toContainEqual(
    expect.stringMatching(new RegExp(`^index: +orders-v1 \\(${text}, 20 documents`)),
  )
})

describe('the shards in the status', () => {
  it('a shard above the advised size is named with the next step', () => {
    const status = statusOf(MAX_ADVISED_SHARD_BYTES, MAX_ADVISED_SHARD_BYTES + 1)
    expect(status.indices[0]?.shards.map((shard) => shard.oversized)).toEqual([false, true])
    expect(oversized(statusLines(status))).toMatch(
      /1 of orders-v1: more than 50 GB\. Run "index reindex --shards N" with N above 2$/,
    )
  })

  it.each([[[1_000_000, MAX_ADVISED_SHARD_BYTES]], [[null]], [[]]])(
    'shards of at most the advised size, or of unknown size, need no step: %j',
    (sizes) => {
      expect(oversized(statusLines(statusOf(...sizes)))).toBeUndefined()
    },
  )

  it('a size that is not yet known after a reindex is not shown as 0.0 MB', () => {
    const lines = statusLines(statusOf(0, 230, 50_000))
    expect(lines.filter((line) => /^shard \d/.test(line))).toEqual([
      expect.stringMatching(/^shard 0: +10 documents$/),
      expect.stringMatching(/^shard 1: +10 documents$/),
      expect.stringMatching(/^shard 2: +10 documents, 0\.1 MB$/),
    ])
  })

  it('the only shard of an index has no line of its own', () => {
    const shardLines = (lines: readonly string[]) => lines.filter((line) => /^shard \d/.test(line))
    expect(shardLines(statusLines(statusOf(1_000_000)))).toEqual([])
    expect(shardLines(statusLines(statusOf(1_000_000, 2_000_000)))).toEqual([
      expect.stringMatching(/^shard 0: +10 documents, 1\.0 MB$/),
      expect.stringMatching(/^shard 1: +10 documents, 2\.0 MB$/),
    ])
  })
})
