import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LoadComparison } from '../../../scripts/bench/load/compare.ts'
import { loadFigures, renderLoad } from '../../../scripts/bench/load/report.ts'
import { rawBulks, writeSourceFile } from '../../../scripts/bench/load/source-file.ts'
import { load } from '../../../src/indexing/sources/load.ts'
import { renderDocument } from '../../../src/indexing/writer/order-document.ts'
import type { OrderIndex, ViewWrite } from '../../../src/indexing/writer/order-index.ts'
import { createWriter } from '../../../src/indexing/writer/writer.ts'
import { serializeDocument } from '../../../src/stores/opensearch/order-document.ts'
import { temporaryFolder } from '../../support/stores/backend.ts'

const UNTIL = Date.parse('2026-03-01T00:00:00Z')
const ORDERS = 1_500

let folder: ReturnType<typeof temporaryFolder>
let file: string
beforeEach(async () => {
  folder = temporaryFolder()
  file = join(folder.folder, 'orders.ndjson')
  await writeSourceFile(file, ORDERS, UNTIL)
})
afterEach(() => folder.remove())

describe('raw bulks', () => {
  it('have the documents that a load writes, as many in each', async () => {
    const loaded: string[][] = []
    const nothingThere = {
      versionRecords: async () => new Map(),
      orphans: async () => [],
      scan: async () => [],
      views: async () => [],
    }
    const index: Pick<OrderIndex, 'bulk'> = {
      bulk: async (decide) => void loaded.push((await decide(nothingThere)).views.map(rendered)),
    }
    await load(chunksOf(file), {
      writer: createWriter(index, () => UNTIL),
      mode: 'back-fill',
      onRefused() {},
      onProgress() {},
    })
    const bulks = await rawBulks(file, UNTIL)
    const sent = bulks.map(({ body }) => {
      const lines = body.toString().trimEnd().split('\n')
      return lines.filter((_, at) => at % 2 === 1)
    })
    expect(sent.map((lines) => lines.toSorted())).toEqual(loaded.map((lines) => lines.toSorted()))
    expect(bulks.map(({ documents }) => documents)).toEqual(loaded.map(({ length }) => length))
  })
})

async function* chunksOf(path: string) {
  yield readFileSync(path)
}

function rendered(view: ViewWrite): string {
  return serializeDocument(renderDocument(view, UNTIL))
}

describe('the report of a load', () => {
  const cpu = { openSearch: 40, client: 3 }
  const comparison: LoadComparison = {
    orders: 1_000,
    documents: 2_000,
    documentsABulk: 1_000,
    raw: [1, 2, 4].map((seconds) => ({ documents: 2_000, seconds, cpu })),
    load: [2, 2, 10].map((seconds) => {
      return { orders: 1_000, documents: 2_000, seconds, cpu, peakBytes: 2 ** 27 }
    }),
  }

  it('tells the median of the ratios of each round', () => {
    expect(loadFigures(comparison)).toMatchObject({
      raw: { perSecond: 1_000 },
      load: { perSecond: 1_000, ordersPerSecond: 500, peakBytes: 2 ** 27 },
      loadPerRaw: 0.5,
    })
  })

  it('is a table with the ratio below', () => {
    const text = renderLoad(comparison)
    expect(text).toContain('The load of 1000 orders, 2000 documents, 1000 a bulk, and raw bulks')
    expect(text).toMatch(/^load +1000 +500 +40\.0 +3\.00 +128$/m)
    expect(text).toContain('load÷raw: 0.50')
  })
})
