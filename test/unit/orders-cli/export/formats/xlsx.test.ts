import { buffer } from 'node:stream/consumers'
import { readSheet } from 'read-excel-file/node'
import { describe, expect, it } from 'vitest'
import type { Order } from '../../../../../src/client/client.ts'
import { createTable, type Rows } from '../../../../../src/orders-cli/export/formats/table.ts'
import { writeXlsx } from '../../../../../src/orders-cli/export/formats/xlsx.ts'
import { apiItem, apiOrder } from '../../../../support/orders-cli/api-order.ts'

async function* each(orders: readonly Order[]) {
  yield* orders
}

/** The rows of a workbook by their headers, as an independent reader returns them. */
async function rowsOf(orders: readonly Order[], rows: Rows = 'orders') {
  const bytes = await writeXlsx(each(orders), createTable({ rows, headers: 'api' }))
  const [head = [], ...lines] = await readSheet(await buffer(bytes), { trim: false })
  return lines.map((line) => Object.fromEntries(line.map((cell, at) => [String(head[at]), cell])))
}

const nameOf = async (name: string) => {
  const customer = { ...apiOrder().customer, name }
  const [row] = await rowsOf([apiOrder({ customer })])
  return row?.['customer.name']
}

describe('a workbook', () => {
  it('a workbook has numbers, dates of Brasília, and empty cells', async () => {
    const order = apiOrder({ amount_total: -1, paid_at: '2026-03-01T02:04:10.123Z' })
    expect(await rowsOf([order])).toEqual([
      expect.objectContaining({
        id: 'ord_1',
        amount_total: -0.01,
        paid_at: new Date('2026-02-28T23:04:10Z'),
        updated_at: null,
        'payment.installments': 1,
        items: '2 × Curso de violão (99,00)',
      }),
    ])
  })

  it.each(['0001-01-01T00:00:00.000Z', '1899-06-01T12:00:00.000Z'])(
    'a workbook has the instant %s as text, because Excel shows no such date',
    async (paid_at) => {
      const [row] = await rowsOf([apiOrder({ paid_at })])
      expect(row?.['paid_at']).toBe(paid_at)
    },
  )

  it.each([
    '=HYPERLINK("http://x")',
    '+5511999990000',
    '-1',
    '@SUM(1)',
    '00012345678',
    '1E5',
    'true',
    '2026-03-01',
    ' <&"\'> \u2028 😀',
  ])('a workbook keeps the text %j as text', async (name) => {
    expect(await nameOf(name)).toBe(name)
  })

  it.each([
    ['a\u0000b\u001fc\uffff', 'abc'],
    ['a\r\nb', 'a\nb'],
    ['x'.repeat(40_000), `${'x'.repeat(32_766)}…`],
    [`${'x'.repeat(32_765)}😀😀`, `${'x'.repeat(32_765)}…`],
    [`${'x'.repeat(32_764)}😀😀`, `${'x'.repeat(32_764)}😀…`],
    [`${'x'.repeat(32_763)}😀😀`, `${'x'.repeat(32_763)}😀😀`],
  ])('a workbook has only what a cell can hold (%#)', async (name, shown) => {
    expect(await nameOf(name)).toBe(shown)
  })

  it('a workbook is written while orders arrive, and keeps none of them', async () => {
    const total = 5_000
    let read = 0
    async function* counted() {
      for (; read < total; read++) yield apiOrder({ id: `ord_${read}` })
    }
    const table = createTable({ rows: 'orders', headers: 'api' })
    const chunks = (await writeXlsx(counted(), table))[Symbol.asyncIterator]()
    const readAtEach: number[] = []
    while (!(await chunks.next()).done) readAtEach.push(read)
    const early = readAtEach.filter((count) => count > 0 && count < total / 2)
    expect(early.length).toBeGreaterThan(3)
  })

  it('a workbook has a row per product with rows of items', async () => {
    const items = [apiItem(), apiItem({ name: 'Apostila', sub_total: 1 })]
    expect(await rowsOf([apiOrder({ items })], 'items')).toEqual([
      expect.objectContaining({ id: 'ord_1', 'item.sub_total': 99 }),
      expect.objectContaining({ id: 'ord_1', 'item.sub_total': 0.01 }),
    ])
  })
})
