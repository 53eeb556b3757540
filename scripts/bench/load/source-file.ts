import { createReadStream, createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { demoOrders } from '../../../src/demo/demo-orders.ts'
import { isValidationError } from '../../../src/indexing/projection/change.ts'
import { inBatches } from '../../../src/indexing/sources/batches.ts'
import { LOAD_BATCH } from '../../../src/indexing/sources/load.ts'
import { parseLines } from '../../../src/indexing/sources/parsed-lines.ts'
import { decide } from '../../../src/indexing/writer/decide.ts'
import { renderDocument } from '../../../src/indexing/writer/order-document.ts'
import { documentId, serializeDocument } from '../../../src/stores/opensearch/order-document.ts'

const SEED = 1

/** Writes so many source orders into a file, one a line, those of the years before `until` (epoch ms). */
export async function writeSourceFile(file: string, count: number, until: number): Promise<void> {
  const lines = demoOrders({ count, seed: SEED, until }).map(
    (order) => `${JSON.stringify(order)}\n`,
  )
  await pipeline(Readable.from(lines), createWriteStream(file))
}

/** A bulk request that writes what a load writes in one. */
export interface RawBulk {
  body: Buffer
  documents: number
}

/** The documents of a load of this file into an empty index, in the same bulks, stamped as if at `stamp`. */
export async function rawBulks(file: string, stamp: number): Promise<RawBulk[]> {
  const bulks: RawBulk[] = []
  const entries = parseLines(createReadStream(file), 1)
  for await (const batch of inBatches(entries, LOAD_BATCH)) {
    const views = batch.flatMap(({ result }) => {
      if (isValidationError(result)) throw new Error(`a demo order is refused: ${result.path}`)
      return decide(result, undefined, [], 'back-fill').views
    })
    const lines = views.map((view) => {
      const action = { index: { _id: documentId(view), routing: view.accountId } }
      return `${JSON.stringify(action)}\n${serializeDocument(renderDocument(view, stamp))}\n`
    })
    bulks.push({ body: Buffer.from(lines.join('')), documents: views.length })
  }
  return bulks
}
