import type { ChangeStream, StreamEntry } from '../../../src/indexing/sources/change-stream.ts'

export const idsOf = (entries: readonly StreamEntry[]) => entries.map(({ id }) => id)

/** Acknowledges the whole stream in batches, and returns their sizes. */
export async function drain(stream: ChangeStream): Promise<number[]> {
  const sizes: number[] = []
  for (;;) {
    const { entries } = await stream.read()
    if (entries.length === 0) return sizes
    sizes.push(entries.length)
    await stream.acknowledge(idsOf(entries))
  }
}
