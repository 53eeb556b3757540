import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Position,
  type RenderedOrder,
  type Sort,
  sorts,
} from '../../../../src/orders/order-store.ts'
import { decodePage } from '../../../../src/stores/opensearch/read/decode-orders.ts'
import { decodeRawHits } from '../../../../src/stores/opensearch/read/raw-hit-decoder.ts'
import { byEffort } from '../../../support/effort.ts'
import { hostileDocument, hostileDocuments } from '../../../support/orders/hostile-orders.ts'
import { createBackend } from '../../../support/stores/backend.ts'
import { openRawPages } from './raw-pages.ts'

const ORDERS = byEffort(20_000, 100_000)
const PAGE = 1_000
const ACCOUNT = 'acc_hostile'

const backend = createBackend()
let pages: Awaited<ReturnType<typeof openRawPages>>

beforeAll(async () => {
  pages = await openRawPages(backend)
  await pages.load(hostileDocuments(ACCOUNT, ORDERS))
})
afterAll(async () => {
  await pages.close()
  await backend.remove()
})

interface Parsed {
  hits: { hits: { _source: { order: object }; sort: [key: number, id: string] }[] }
}

/** The oracle: parses the whole response and serialises each order again. */
function parsedRows(answer: Buffer) {
  const { hits }: Parsed = JSON.parse(answer.toString())
  return hits.hits.map(({ _source, sort: [key, id] }) => {
    return { key, id, json: Buffer.from(JSON.stringify(_source.order)) }
  })
}

/** The output of the service without insignificant whitespace. */
function rowsByParsing(answer: Buffer, sort: Sort): RenderedOrder[] {
  const spaced = Buffer.concat([answer, Buffer.from(' ')])
  return decodePage(spaced, { accountId: ACCOUNT, sort }, (reading) => {
    expect(reading).toBe('unexpected')
  })
}

/** Violations of a row: it must equal the parsed row and the written order. */
function faultOf({ key, id, json }: RenderedOrder, parsed: Omit<RenderedOrder, 'tag'> | undefined) {
  const bytes = Buffer.from(json)
  const index = Number(id.replace('ord_', ''))
  if (bytes.toString() !== hostileDocument(ACCOUNT, index).json) return `${id} is not as written`
  const isParsed = parsed?.key === key && parsed.id === id && bytes.equals(parsed.json)
  return isParsed ? undefined : `${id} is not as parsed`
}

describe(`${ORDERS} orders with hostile texts`, () => {
  it.each(sorts)('the decoder returns the same bytes as a full parse: %s', async (sort) => {
    const ids = new Set<string>()
    for (let after: Position | null = null; ; ) {
      const answer = await pages.answer(ACCOUNT, sort, PAGE, after)
      const cut = decodeRawHits(answer, { accountId: ACCOUNT, sort })
      if (cut === undefined) throw new Error(`not cut: after ${after?.id}`)
      const parsed = parsedRows(answer)
      const parsedByService = rowsByParsing(answer, sort)
      expect([parsed.length, parsedByService.length]).toEqual([cut.length, cut.length])
      for (const [at, row] of cut.entries()) {
        const fault = faultOf(row, parsed[at]) ?? faultOf(row, parsedByService[at])
        if (fault !== undefined) throw new Error(fault)
        ids.add(row.id)
      }
      const last = cut.at(-1)
      if (cut.length < PAGE || last === undefined) break
      after = { key: last.key, id: last.id }
    }
    expect(ids.size).toBe(ORDERS)
  })
})
