import { createReadStream } from 'node:fs'
import type { Order } from '../../client/client.ts'
import { parseJson } from '../../lib/text/json.ts'
import { openNew } from '../atomic-file.ts'
import type { Format } from './formats/format.ts'

/**
 * Writes the final file of a format from a complete part file, and syncs it to disk. `onOrder` runs
 * before each order, and may throw.
 */
export async function assembleFile(
  part: string,
  path: string,
  assemble: NonNullable<Format['assemble']>,
  onOrder: () => void,
): Promise<void> {
  const file = await openNew(path)
  try {
    for await (const chunk of await assemble(ordersOf(part, onOrder))) await file.writeFile(chunk)
    await file.sync()
  } finally {
    await file.close()
  }
}

/**
 * The orders of an NDJSON file. `readline` would also split at U+2028, which a part of an earlier
 * release may contain.
 */
async function* ordersOf(path: string, onOrder: () => void): AsyncGenerator<Order> {
  let rest = ''
  for await (const chunk of createReadStream(path, { encoding: 'utf8' })) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      onOrder()
      yield parseJson(line) as Order
    }
  }
}
