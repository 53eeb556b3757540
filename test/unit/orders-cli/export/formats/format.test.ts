import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { Order } from '../../../../../src/client/client.ts'
import {
  createFormat,
  type FormatName,
} from '../../../../../src/orders-cli/export/formats/format.ts'
import type { Headers, Rows } from '../../../../../src/orders-cli/export/formats/table.ts'
import { collect } from '../../../../support/orders/collect.ts'
import { apiItem, apiOrder } from '../../../../support/orders-cli/api-order.ts'
import { csvRows } from '../../../../support/orders-cli/orders-csv.ts'

function written(
  name: FormatName,
  orders: readonly Order[],
  rows: Rows = 'orders',
  headers: Headers = 'api',
): string {
  const { head, encode } = createFormat(name, { rows, headers })
  return head + orders.map(encode).join('')
}
const separators = { csv: ',', 'csv-br': ';' } as const
const rowsOf = (name: 'csv' | 'csv-br', order: Order, rows: Rows = 'orders') =>
  csvRows(written(name, [order], rows).replace('\uFEFF', ''), separators[name])

const rich = apiOrder({
  amount_total: -1,
  paid_at: '2026-03-01T12:04:10.123Z',
  customer: {
    name: '=1+1; "Ana"',
    email: 'ana@exemplo.com.br',
    phone: '+5511999990000',
    document: '00012345678',
    document_type: 'CPF',
  },
  items: [apiItem(), apiItem({ name: 'Apostila, vol. 1', quantity: 1, sub_total: 1 })],
  tracking: { src: 'bio' },
  metadata: { currency_rate: 5.4321 },
})

it('ndjson has every field, also those newer than this program', () => {
  const order = { ...rich, gift: { wrap: true } }
  expect(JSON.parse(written('ndjson', [order]))).toEqual(order)
  expect(written('ndjson', [order, order]).match(/\n/g)).toHaveLength(2)
})

it.each([0x0a, 0x0d, 0x0b, 0x0c, 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029])(
  'ndjson keeps an order with the code point %i on one line, for Node and Python',
  async (code) => {
    const separator = String.fromCodePoint(code)
    const order = apiOrder({ customer: { ...rich.customer, name: `Ana${separator}Souza` } })
    const text = written('ndjson', [order])
    const lines = await collect(createInterface({ input: Readable.from([text]) }))
    expect(lines.map((line) => JSON.parse(line))).toEqual([order])
    // `str.splitlines` of Python ends a line at each of these code points.
    expect(text.slice(0, -1)).not.toContain(separator)
  },
)

describe('csv', () => {
  it('csv has the values of the API', () => {
    expect(rowsOf('csv', rich)).toEqual([
      expect.objectContaining({
        amount_total: '-1',
        paid_at: '2026-03-01T12:04:10.123Z',
        'customer.name': '=1+1; "Ana"',
        'customer.document': '00012345678',
        'payment.amount': '9900',
        items: JSON.stringify(rich.items),
        tracking: '{"src":"bio"}',
        'metadata.currency_rate': '5.4321',
        'shipping_address.city': '',
      }),
    ])
  })

  it('ends lines with CRLF, and has no byte order mark', () => {
    const text = written('csv', [apiOrder({ items: [] })])
    expect(text).toMatch(/^id,role,[^\n]*\r\nord_1,OWNER,[^\n]*\r\n$/)
  })

  it('keeps line breaks, quotes and surrounding spaces of a cell', () => {
    const customer = { ...rich.customer, name: ' "a",\r\nb ' }
    expect(rowsOf('csv', apiOrder({ customer }))[0]?.['customer.name']).toBe(' "a",\r\nb ')
  })
})

describe('csv-br', () => {
  it('csv-br has values that a Brazilian Excel reads with their types', () => {
    expect(rowsOf('csv-br', rich)).toEqual([
      expect.objectContaining({
        amount_total: '-0,01',
        paid_at: '01/03/2026 09:04:10',
        'customer.name': '="=1+1; ""Ana"""',
        'customer.document': '="00012345678"',
        'customer.phone': '="+5511999990000"',
        'payment.installments': '1',
        items: '2 × Curso de violão (99,00) | 1 × Apostila, vol. 1 (0,01)',
        tracking: '{"src":"bio"}',
        'metadata.currency_rate': '5,4321',
      }),
    ])
  })

  it('csv-br has an instant before March 1900 as in the API', () => {
    const [row] = rowsOf('csv-br', apiOrder({ paid_at: '0001-01-01T00:00:00.000Z' }))
    expect(row?.['paid_at']).toBe('0001-01-01T00:00:00.000Z')
  })

  it('begins with one byte order mark', () => {
    const text = written('csv-br', [rich, rich])
    expect(text.match(/\uFEFF/g)).toHaveLength(1)
    expect(text).toMatch(/^\uFEFFid;role;/)
  })
})

describe('rows of items', () => {
  it('rows of items have a line per product, with the order repeated', () => {
    expect(rowsOf('csv-br', rich, 'items')).toEqual([
      expect.objectContaining({ id: 'ord_1', 'item.quantity': '2', 'item.sub_total': '99,00' }),
      expect.objectContaining({ id: 'ord_1', 'item.quantity': '1', 'item.sub_total': '0,01' }),
    ])
  })

  it('rows of items have no column with all products', () => {
    expect(Object.keys(rowsOf('csv', rich, 'items')[0] ?? {})).not.toContain('items')
  })

  it('rows of items include orders without products', () => {
    const [row] = rowsOf('csv', apiOrder({ items: [] }), 'items')
    expect(row).toMatchObject({ id: 'ord_1', 'item.product_id': '' })
  })
})

describe('Portuguese headers', () => {
  it('Portuguese headers replace the names of the API', () => {
    const [head = ''] = written('csv-br', [], 'items', 'pt').split('\r\n')
    expect(head).toMatch(/^\uFEFFPedido;Papel;Status;Moeda;Valor total;/)
    expect(head).toMatch(/;Subtotal do item;Moeda do item;Oferta do item;Plano;Order bump$/)
  })
})
