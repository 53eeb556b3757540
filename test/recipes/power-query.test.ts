import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Order } from '../../src/orders/order.ts'
import { recipe } from '../support/cli/program.ts'
import { permanentErrors } from './error-cases.ts'
import { runPowerQuery } from './power-query/power-query.ts'
import { CONTRACT_LIMITS, openRecipeService, type RecipeService } from './service.ts'

let service: RecipeService
beforeAll(async () => {
  service = await openRecipeService({ settings: CONTRACT_LIMITS })
})
afterAll(() => service.close())
beforeEach(() => service.faultServer.forget())

const run = (key = service.key) =>
  runPowerQuery({
    file: recipe('power-query/orders.pq'),
    parameters: { EnderecoApi: service.baseUrl, ChaveApi: key },
  })

const COLUMNS = [
  ...['id', 'papel', 'status', 'moeda', 'total', 'total em reais'],
  ...['criado em', 'pago em', 'atualizado em', 'cliente', 'email', 'documento'],
  ...['método', 'status do pagamento', 'parcelas', 'reembolsado', 'produtos'],
]
const money = (cents: number | null) => (cents === null ? null : cents / 100)
const date = (text: string | null) => (text === null ? null : new Date(text))

const rowOf = ({ customer, payment, items, ...order }: Order) => [
  ...[order.id, order.role, order.status, order.currency],
  ...[money(order.amount_total), money(order.amount_in_brl)],
  ...[date(order.created_at), date(order.paid_at), date(order.updated_at)],
  ...[customer.name, customer.email, customer.document],
  ...[payment.method, payment.status, payment.installments, money(payment.amount_refunded)],
  items.map(({ name }) => name).join('; '),
]

// No M engine exists for Linux: Microsoft's parser parses the query, and our interpreter runs it.
describe('the recipe for Power Query, on our interpreter of a part of M', () => {
  it('the Power Query recipe returns a table of every order, newest first', async () => {
    const { columns, rows, error } = await run()
    expect(error).toBeNull()
    expect(columns).toEqual(COLUMNS)
    expect(rows).toEqual([...(await service.listed()).values()].map(rowOf))
    expect(service.faultServer.requests[0]).toMatchObject({
      query: { sort: 'created_at_desc', limit: '100' },
      authorization: `Bearer ${service.key}`,
    })
  })

  it('the Power Query recipe continues after Power Query waited for a 429', async () => {
    service.emptyBucketAt(3)
    const { rows } = await run()
    expect(rows).toHaveLength((await service.listed()).size)
    expect(service.faultServer.statuses()).toEqual([200, 200, 200, 429, 200, 200, 200, 200])
  })

  it('the recipe waits for the Retry-After of an edge response without a body', async () => {
    const rejections = service.faultServer.rejectFor(2, 3)
    const { rows } = await run()
    expect(rows).toHaveLength((await service.listed()).size)
    expect(rejections()).toBe(1)
  })

  it('the Power Query recipe retries errors that Power Query does not', async () => {
    service.faultServer.answer(2, { status: 502 })
    const { rows, error } = await run()
    expect(error).toBeNull()
    expect(rows).toHaveLength((await service.listed()).size)
  })

  it('the Power Query recipe fails without a partial table when a response is truncated', async () => {
    service.faultServer.answer(2, { status: 200, body: '{"object":"list","data":[' })
    expect(await run()).toMatchObject({ rows: [], error: expect.stringContaining('JSON') })
  })

  // A query cannot handle 401 and 403: Power Query prompts for credentials with its own text.
  it.each(permanentErrors)(
    'the Power Query recipe stops at $title',
    async ({ answer, key, message }) => {
      if (answer) service.faultServer.answer(0, answer)
      const { error } = await run(key)
      const isForCredentials = answer?.status !== 400
      expect(error).toContain(isForCredentials ? 'credentials' : message)
    },
  )
})
