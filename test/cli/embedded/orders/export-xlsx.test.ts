import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readSheet } from 'read-excel-file/node'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import type { Order } from '../../../../src/orders/order.ts'
import { beginOrders, runOrders } from '../../../support/orders-cli/orders-cli.ts'
import {
  type OrdersService,
  openOrdersService,
} from '../../../support/orders-cli/orders-service.ts'

const FILE = 'pedidos.xlsx'
const EXPORT = ['export', '--format', 'xlsx', '--headers', 'pt', '--out', FILE]

let service: OrdersService
let listed: Order[]
beforeAll(async () => {
  service = await openOrdersService(600)
  listed = await service.listed()
})
afterAll(() => service.close())
afterEach(() => service.release())

const place = () => ({ cwd: service.folder, env: service.env })
function ordersInPart(): number {
  const state = join(service.folder, `${FILE}.part.json`)
  return existsSync(state) ? JSON.parse(readFileSync(state, 'utf8')).orders : 0
}
const outputFiles = () => readdirSync(service.folder).filter((name) => name.startsWith(FILE))

/** Cells as an independent reader returns them. */
async function read() {
  const [head = [], ...rows] = await readSheet(join(service.folder, FILE))
  const column = (name: string) => {
    const at = head.indexOf(name)
    return rows.map((row) => row[at])
  }
  return {
    ids: column('Pedido'),
    totals: column('Valor total'),
    // The reader converts a fraction of a day, which rounds to the millisecond before.
    createdAt: column('Criado em').map((date) => date instanceof Date && Math.round(+date / 1000)),
    names: column('Cliente'),
    documents: column('CPF ou CNPJ'),
  }
}

const BRASILIA_S = -3 * 3_600
const expected = () => ({
  ids: listed.map(({ id }) => id),
  totals: listed.map(({ amount_total }) => amount_total / 100),
  createdAt: listed.map(({ created_at }) => Math.floor(Date.parse(created_at) / 1000) + BRASILIA_S),
  names: listed.map(({ customer }) => customer.name),
  documents: listed.map(({ customer }) => customer.document),
})

it('an export to xlsx has every order, with numbers and dates as such', async () => {
  const { code, stderr } = await runOrders(EXPORT, place())
  expect(code, stderr).toBe(0)
  expect(await read()).toEqual(expected())
  expect(outputFiles()).toEqual([FILE])
})

it('an interrupted export to xlsx continues with --resume', async () => {
  service.pauseAfter(3)
  const run = beginOrders(EXPORT, place())
  await vi.waitUntil(() => ordersInPart() >= 200, { timeout: 30_000, interval: 20 })
  run.interrupt()
  await run.finished
  service.release()
  const { code, stderr } = await runOrders([...EXPORT, '--resume'], place())
  expect(code, stderr).toBe(0)
  expect(await read()).toEqual(expected())
  expect(outputFiles()).toEqual([FILE])
})
