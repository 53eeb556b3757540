import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Order } from '../../../../src/orders/order.ts'
import { runOrders } from '../../../support/orders-cli/orders-cli.ts'
import { csvRows, shownByExcel } from '../../../support/orders-cli/orders-csv.ts'
import {
  CONTRACT_LIMITS,
  type OrdersService,
  openOrdersService,
} from '../../../support/orders-cli/orders-service.ts'

let service: OrdersService
let listed: Order[]
beforeAll(async () => {
  // More pages than the bucket allows at once.
  service = await openOrdersService(2_600, CONTRACT_LIMITS)
  listed = await service.listed()
})
afterAll(() => service.close())

/** The stdout of an export. */
async function exported(...args: string[]): Promise<string> {
  const place = { cwd: service.folder, env: service.env }
  const { code, stdout, stderr } = await runOrders(['export', ...args], place)
  expect(code, stderr).toBe(0)
  return stdout
}

const exportedRows = async (format: 'csv' | 'csv-br', ...args: string[]) => {
  const text = await exported('--format', format, ...args)
  return csvRows(text.replace(/^\uFEFF/, ''), format === 'csv' ? ',' : ';')
}

/** The cents of an amount such as 1.234,56, after its thousands separators are removed. */
const cents = (cell: string | undefined) => Number(cell?.replace(',', ''))
/** The instant, in seconds, of dd/mm/aaaa hh:mm:ss in Brasília time since 2019. */
function seconds(cell: string | undefined): number {
  const [, day, month, year, time] = /^(\d\d)\/(\d\d)\/(\d{4}) (.{8})$/.exec(cell ?? '') ?? []
  return Date.parse(`${year}-${month}-${day}T${time}-03:00`) / 1000
}

describe('an export without filters equals the API’s listing', () => {
  it('an export without filters equals the API’s listing as ndjson, into a file', async () => {
    await exported('--format', 'ndjson', '--out', 'all.ndjson')
    const lines = readFileSync(join(service.folder, 'all.ndjson'), 'utf8').split('\n').slice(0, -1)
    expect(lines.map((line) => JSON.parse(line))).toEqual(listed)
  })

  it('an export without filters equals the API’s listing as csv', async () => {
    const rows = await exportedRows('csv')
    const expected = listed.map(({ id, amount_total, updated_at, customer, payment, items }) => ({
      id,
      amount_total: String(amount_total),
      updated_at: updated_at ?? '',
      'customer.document': customer.document ?? '',
      'payment.card.last4': payment.card?.last4 ?? '',
      items: JSON.stringify(items),
    }))
    expect(rows).toEqual(expected.map((row) => expect.objectContaining(row)))
  })

  it('an export without filters equals the API’s listing as csv with a line per product', async () => {
    const rows = await exportedRows('csv', '--rows', 'items')
    const expected = listed.flatMap(({ id, items }) =>
      items.map(({ name, sub_total }) => ({
        id,
        'item.name': name,
        'item.sub_total': String(sub_total),
      })),
    )
    expect(rows).toEqual(expected.map((row) => expect.objectContaining(row)))
  })

  it('an export without filters equals the API’s listing as csv-br', async () => {
    const rows = await exportedRows('csv-br')
    const read = rows.map((row) => ({
      id: row['id'],
      amount: cents(row['amount_total']),
      fee: cents(row['payment.fee']),
      createdAt: seconds(row['created_at']),
      name: shownByExcel(row['customer.name'] ?? ''),
      phone: shownByExcel(row['customer.phone'] ?? ''),
      document: shownByExcel(row['customer.document'] ?? ''),
    }))
    const expected = listed.map(({ id, amount_total, created_at, customer, payment }) => ({
      id,
      amount: amount_total,
      fee: payment.fee,
      createdAt: Math.floor(Date.parse(created_at) / 1000),
      name: customer.name,
      phone: customer.phone ?? '',
      document: customer.document ?? '',
    }))
    expect(read).toEqual(expected)
  })
})

it('an export with filters equals the filtered listing', async () => {
  const filters = [
    '--status',
    'PAID,REFUNDED',
    '--payment-method',
    'PIX',
    '--sort',
    'updated_at_asc',
  ]
  const expected = await service.listed(
    '&status=PAID,REFUNDED&payment_method=PIX&sort=updated_at_asc',
  )
  const rows = await exportedRows('csv', ...filters)
  expect(rows.map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
  expect(rows.length).toBeGreaterThan(10)
  expect(rows.length).toBeLessThan(listed.length)
})

it('orders get prints the order that the API returns', async () => {
  const place = { cwd: service.folder, env: service.env }
  const { stdout } = await runOrders(['get', listed[0]?.id ?? ''], place)
  expect(stdout).toBe(`${JSON.stringify(listed[0], null, 2)}\n`)
})
