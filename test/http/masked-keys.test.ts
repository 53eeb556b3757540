import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { projectOrder } from '../../src/indexing/projection/order-views.ts'
import type { SourceOrder } from '../../src/indexing/projection/source-order.ts'
import type { Order } from '../../src/orders/order.ts'
import { createTestApp, type TestApp } from '../support/http/test-app.ts'
import { sourceOrder } from '../support/orders/source-order.ts'

const MASKED = { scopes: ['orders:read_masked' as const] }

let app: TestApp
beforeAll(async () => {
  app = await createTestApp()
})
afterAll(() => app.close())

/** Letters that nothing else in a response has, so that one of them shows where it came from. */
const PERSONAL = 'ሀለሐመሠረሰቀበተኀነአከወዐዘየደገ'
const PERSONAL_LETTER = /[ሀ-፿]/gu
const personal = fc.string({
  unit: fc.constantFrom(...PERSONAL, ...PERSONAL, ' '),
  minLength: 1,
  maxLength: 20,
})
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary)
const digits = fc
  .array(fc.integer({ min: 0, max: 9 }), { minLength: 10, maxLength: 13 })
  .map((all) => all.join(''))

const customers = fc.record({
  name: personal,
  email: fc.oneof(
    personal,
    personal.map((local) => `${local}@exemplo.com.br`),
    fc.tuple(personal, personal).map(([one, other]) => `${one}@${other}`),
  ),
  phone: optional(digits.map((all) => `+${all}`)),
  document: optional(fc.constantFrom('12345678909', '12ABC34501DE35')),
})
const addresses = fc.record({
  line1: personal,
  line2: personal,
  line3: optional(personal),
  neighborhood: personal,
  city: fc.constant('Curitiba'),
  state: fc.constant('PR'),
  country: fc.constant('BR'),
  postal_code: personal,
  full_name: optional(personal),
})
const navigators = fc.record({ user_agent: optional(personal), referer: optional(personal) })

const OWNER = 'acc_masked'
const COPRODUCER = 'acc_masked_co'
const loaded = new Map<string, SourceOrder>()
const orders: fc.Arbitrary<SourceOrder> = fc
  .record({
    customer: customers,
    shipping_address: optional(addresses),
    tracking: optional(fc.dictionary(personal, personal, { maxKeys: 3 })),
    navigator: optional(navigators),
  })
  .map((parts) => {
    const id = `ord_masked_${loaded.size}`
    const accounts = { owner_account_id: OWNER, coproducer_account_ids: [COPRODUCER] }
    const source = sourceOrder({ ...parts, ...accounts, id })
    loaded.set(id, source)
    return source
  })

type Answer = Awaited<ReturnType<TestApp['call']>>

/** Fails when a response has more of a customer than the masked fields show. */
function expectMasked({ text, headers }: Answer): void {
  const shown: Order[] = text === '' ? [] : ordersIn(JSON.parse(text))
  for (const { id, customer } of shown) {
    const phone = loaded.get(id)?.customer.phone
    expect(customer.name).toMatch(/^(\p{L}\.( \p{L}\.)?)?$/u)
    expect(customer.email).toMatch(/^(.•••@exemplo\.com\.br|•••)$/u)
    expect(customer.phone).toEqual(phone ? `•••${phone.slice(-2)}` : null)
  }
  const visible = shown.map(({ customer }) => customer.name + customer.email).join('')
  const whole = text + JSON.stringify(headers)
  expect(personalIn(whole)).toBe(personalIn(visible))
  for (const { customer } of loaded.values()) {
    const numbers = [customer.phone?.slice(1, 9), customer.document].filter(Boolean)
    for (const number of numbers) expect(whole).not.toContain(number)
  }
}

const personalIn = (text: string) => text.match(PERSONAL_LETTER)?.join('') ?? ''
const ordersIn = (body: { data?: Order[]; customer?: unknown }): Order[] =>
  body.data ?? (body.customer === undefined ? [] : [body as Order])

it('no response or header has a byte of the personal fields beyond their mask', async () => {
  const keys = await Promise.all(
    [OWNER, COPRODUCER].map(async (accountId) => (await app.issue({ accountId, ...MASKED })).key),
  )
  const property = fc.asyncProperty(
    fc.array(orders, { minLength: 10, maxLength: 10 }),
    async (batch) => {
      await app.load(batch)
      const lists = ['limit=100', 'limit=100&sort=updated_at_asc']
      const reads = [
        ...lists.map((query) => `/v1/orders?${query}`),
        ...batch.map(({ id }) => `/v1/orders/${id}`),
      ]
      const repeats = [
        ...batch.map(({ customer }) => `customer_email=${encodeURIComponent(customer.email)}`),
        'customer=1',
      ]
      for (const key of keys) {
        for (const url of reads) {
          const answer = await app.call(url, { key })
          expect(ordersIn(answer.json)).not.toEqual([])
          expectMasked(answer)
          const headers = { 'if-none-match': `${answer.headers['etag']}` }
          expectMasked(await app.call(url, { key, headers }))
        }
        for (const query of repeats) {
          const headers = { prefer: 'handling=strict' }
          expectMasked(await app.call(`/v1/orders?${query}`, { key, headers }))
        }
      }
    },
  )
  await fc.assert(property, { numRuns: 3 })
})

describe('a key with orders:read_masked', () => {
  const source = sourceOrder({
    id: 'ord_whole',
    owner_account_id: 'acc_whole',
    customer: {
      name: 'Rita Lima',
      email: 'rita@exemplo.com.br',
      phone: '+5511999990042',
      document: '12345678909',
    },
    shipping_address: {
      line1: 'Rua das Flores',
      line2: '100',
      neighborhood: 'Centro',
      city: 'Curitiba',
      state: 'PR',
      country: 'BR',
      postal_code: '80010000',
      full_name: 'Rita Lima',
    },
    tracking: { src: 'rita' },
    navigator: { user_agent: 'Mozilla/5.0' },
  })
  const account = { accountId: source.owner_account_id }
  let full: string
  let masked: string
  beforeAll(async () => {
    await app.load([source, sourceOrder({ id: 'ord_other', owner_account_id: 'acc_whole' })])
    full = (await app.issue(account)).key
    masked = (await app.issue({ ...account, ...MASKED })).key
  })

  it('reads whole orders but for the masked fields', async () => {
    const { data } = await app.list('', full)
    const expected = data.map((order) => ({
      ...order,
      customer: expect.objectContaining({ name: 'R. L.', email: 'r•••@exemplo.com.br' }),
      shipping_address: order.shipping_address && expect.objectContaining({ city: 'Curitiba' }),
      tracking: null,
      navigator: null,
    }))
    expect((await app.list('', masked)).data).toEqual(expected)
    const [view] = projectOrder(source).views
    expect((await app.call('/v1/orders/ord_whole', { key: masked })).json).toMatchObject({
      id: view?.order.id,
      payment: view?.order.payment,
      customer: { phone: '•••42', document: null, document_type: 'CPF' },
      shipping_address: { line1: '', postal_code: '', full_name: null, state: 'PR', country: 'BR' },
    })
  })

  it.each(['/v1/orders', '/v1/orders/ord_whole'])('has ETags of its own for %s', async (url) => {
    const tagOf = async (key: string) => `${(await app.call(url, { key })).headers['etag']}`
    const statusOf = async (key: string, etag: string) =>
      (await app.call(url, { key, headers: { 'if-none-match': etag } })).status
    const [whole, hidden] = [await tagOf(full), await tagOf(masked)]
    expect(hidden).not.toBe(whole)
    expect(await statusOf(masked, whole)).toBe(200)
    expect(await statusOf(masked, hidden)).toBe(304)
  })

  it.each(['customer_email=rita@exemplo.com.br', 'customer_email=', 'customer_document=x'])(
    'gets 400 for %s, and the same response for another value',
    async (filter) => {
      const [param] = filter.split('=')
      const refusal = await app.error(`/v1/orders?limit=x&${filter}`, { key: masked })
      expect(refusal).toMatchObject({ status: 400, code: 'invalid_request', param })
      expect(refusal.message).toMatch(/não vê dados pessoais.*orders:read/)
      const other = await app.error(`/v1/orders?${param}=12345678909`, { key: masked })
      expect(other.message).toBe(refusal.message)
    },
  )

  it('shares cursors with a full key of the account, except those of a refused filter', async () => {
    const from = async (query: string) => (await app.list(`limit=1&${query}`, full)).next_cursor
    const own = await app.list(`limit=1&cursor=${await from('')}`, masked)
    expect(own.data).toMatchObject([{ customer: { name: 'R. L.' } }])
    const filtered = await from('customer_email=rita@exemplo.com.br')
    const refusal = await app.error(`/v1/orders?limit=1&cursor=${filtered}`, { key: masked })
    expect(refusal).toMatchObject({ status: 400, param: 'cursor' })
  })

  it('reads the sandbox masked too', async () => {
    const test = { accountId: 'acc_whole', isTest: true }
    await app.load([
      sourceOrder({ id: 'ord_test_1', owner_account_id: 'acc_whole.test', version: 1 }),
    ])
    const { key } = await app.issue({ ...test, ...MASKED })
    expect((await app.list('', key)).data).toMatchObject([{ customer: { name: 'R. L.' } }])
  })
})
