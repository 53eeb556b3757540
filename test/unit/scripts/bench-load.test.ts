import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { rawBulks, reportLoad, writeSourceFile } from '../../../scripts/bench/parts/load.ts'
import { load } from '../../../src/indexing/sources/load.ts'
import { renderDocument } from '../../../src/indexing/writer/order-document.ts'
import { createWriter } from '../../../src/indexing/writer/writer.ts'
import { serializeDocument } from '../../../src/stores/opensearch/order-document.ts'
import { temporaryFolder } from '../../support/stores/backend.ts'
import { interceptCommits } from '../../support/stores/bulk.ts'
import { createMemoryOrderIndex } from '../indexing/writer/memory-order-index.ts'

const UNTIL = Date.parse('2026-03-01T00:00:00Z')

it('Raw bulks have the documents that a load writes, and as many in each bulk', async () => {
  const { folder, remove } = temporaryFolder()
  const file = join(folder, 'orders.ndjson')
  await writeSourceFile(file, 1_500, UNTIL)
  const loaded: string[][] = []
  const index = interceptCommits(createMemoryOrderIndex(), (writes) => {
    loaded.push(writes.views.map((view) => serializeDocument(renderDocument(view, UNTIL))))
    return writes
  })
  const writer = createWriter(index, () => UNTIL)
  const ignore = { onRejected() {}, onProgress() {} }
  await load(createReadStream(file), { writer, mode: 'back-fill', ...ignore })
  const bulks = await rawBulks(file, UNTIL)
  remove()
  const sent = bulks.map(({ body }) =>
    body
      .toString()
      .trimEnd()
      .split('\n')
      .filter((_, at) => at % 2 === 1),
  )
  const asSets = (all: string[][]) => all.map((lines) => new Set(lines))
  expect(asSets(sent)).toEqual(asSets(loaded))
  expect(bulks.map(({ documents }) => documents)).toEqual(loaded.map(({ length }) => length))
})

it('The report has the median of the ratios of each round', () => {
  const cpu = { openSearch: 40, client: 3 }
  const loads = [2, 2, 10].map((seconds) => {
    return { orders: 1_000, documents: 2_000, seconds, cpu, peakBytes: 2 ** 27 }
  })
  const { figures, ratios, tables } = reportLoad({
    ...{ orders: 1_000, documents: 2_000, documentsPerBulk: 1_000, load: loads },
    raw: [1, 2, 4].map((seconds) => ({ documents: 2_000, seconds, cpu })),
  })
  expect(ratios).toEqual({ 'documents a second load÷raw': 0.5 })
  expect(figures).toMatchObject({
    raw: { perSecond: 1_000 },
    load: { perSecond: 1_000, ordersPerSecond: 500, peakBytes: 2 ** 27 },
  })
  expect(tables[0]).toContain('The load of 1000 orders, 2000 documents, 1000 a bulk, and raw bulks')
  expect(tables[0]).toMatch(/^load +1000 +500 +40\.0 +3\.00 +128$/m)
})
