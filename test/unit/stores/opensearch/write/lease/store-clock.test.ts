import { expect, it } from 'vitest'
import type { OpenSearch } from '../../../../../../src/stores/opensearch/client/client.ts'
import { createStoreClock } from '../../../../../../src/stores/opensearch/write/lease/store-clock.ts'

/** A cluster whose nodes return these times, and the received requests. */
function cluster(...timestamps: number[]) {
  const requests: { timeout?: string }[] = []
  const stats = async (request: { timeout?: string }) => {
    requests.push(request)
    return {
      body: { nodes: Object.fromEntries(timestamps.map((timestamp, n) => [n, { timestamp }])) },
    }
  }
  return { client: { nodes: { stats } } as unknown as OpenSearch, requests }
}

it.each([
  [[5_000], 5_000],
  [[9_000, 5_000], 5_000],
  [[1, 5_000, 9_000], 5_000],
  [[5_000, 9_000, 1, 9_000], 5_000],
])(
  'the store clock of the nodes %j is the median, or the earlier of two',
  async (times, expected) => {
    const clock = createStoreClock(cluster(...times).client, 1_000)
    const read = await clock.read()
    expect(read).toBeGreaterThanOrEqual(expected)
    expect(read).toBeLessThan(9_000)
    expect(clock.now()).toBeGreaterThanOrEqual(read)
  },
)

it.each([
  [1_000, '500ms'],
  [10_000, '1000ms'],
  [600_000, '1000ms'],
])(
  'the store clock with a deadline of %i ms waits %s for a frozen node',
  async (deadlineMs, timeout) => {
    const { client, requests } = cluster(5_000)
    await createStoreClock(client, deadlineMs).read()
    expect(requests).toMatchObject([{ timeout }])
  },
)
