import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noFilters, type OrderFilters } from '../../src/orders/filters/filters.ts'
import {
  NULL_INSTANT_KEY,
  type PageQuery,
  type RenderedOrder,
  sorts,
} from '../../src/orders/order-store.ts'
import { readOrder } from '../support/orders/read-order.ts'
import { sourceOrder, sourcePayment } from '../support/orders/source-order.ts'
import { loadOrders } from './load-orders.ts'
import { type StoresUnderTest, useStores } from './stores-under-test.ts'

const NOW = Date.parse('2026-03-02T00:00:00Z')
const everything: OrderFilters = noFilters

describe.each(useStores())('the order store on %s', (_name, open) => {
  let store: StoresUnderTest
  let nowMs = NOW
  beforeEach(async () => {
    nowMs = NOW
    store = await open()
  })
  afterEach(() => store.close())

  const write = (orders: object[]) => loadOrders(store, orders, { clock: () => nowMs })
  const read = (id: string, accountId?: string) => readOrder(store.orders, id, accountId)

  function findPage(query: Partial<PageQuery> = {}): Promise<RenderedOrder[]> {
    return store.orders.findPage({
      accountId: 'acc_1',
      sort: 'created_at_desc',
      filters: everything,
      after: null,
      nullsWrittenAfter: null,
      size: 100,
      ...query,
    })
  }

  async function ids(query: Partial<PageQuery> = {}): Promise<string[]> {
    return (await findPage(query)).map(({ id }) => id)
  }

  describe('with a page', () => {
    const created_at = '2026-03-01T12:00:00Z'
    const changed_at = '2026-03-01T13:00:00Z'

    it('breaks ties by the bytes of the id: descending by creation, ascending by update', async () => {
      const tied = ['ord_b', 'ord_B', 'ord_10', 'ord_9', 'ord__', 'ord_-', 'ord_a'] as const
      await write(tied.map((id) => sourceOrder({ id, created_at, changed_at })))
      const ascending = ['ord_-', 'ord_10', 'ord_9', 'ord_B', 'ord__', 'ord_a', 'ord_b']
      expect(await ids()).toEqual(ascending.toReversed())
      expect(await ids({ sort: 'updated_at_asc' })).toEqual(ascending)
    })

    it('tags an order alike in both sorts and any filter, and anew once its content changes', async () => {
      const tagsOf = async (query: Partial<PageQuery> = {}) =>
        (await findPage(query)).map(({ id, tag }) => [id, tag])
      await write([sourceOrder({ id: 'ord_1' }), sourceOrder({ id: 'ord_2' })])
      const [second, first] = await tagsOf()
      expect(await tagsOf({ sort: 'updated_at_asc' })).toEqual([first, second])
      const filters = { ...everything, customerEmails: ['rita@exemplo.com.br'] }
      expect(await tagsOf({ filters })).toEqual([second, first])
      nowMs += 1_000
      await write([sourceOrder({ id: 'ord_1', version: 2, amount_total: 9901 })])
      const changed = await tagsOf()
      expect(changed[0]).toEqual(second)
      expect(changed[1]).not.toEqual(first)
    })

    it('returns the same to searches at once, of any account and sort, as one after another', async () => {
      await write(
        Array.from({ length: 30 }, (_, at) =>
          sourceOrder({
            id: `ord_${at}`,
            created_at,
            changed_at,
            owner_account_id: `acc_${at % 3}`,
          }),
        ),
      )
      const queries = ['acc_0', 'acc_1', 'acc_2', 'acc_none'].flatMap((accountId) =>
        [1, 4, 21].flatMap((size) =>
          sorts.map((sort): Partial<PageQuery> => ({ accountId, size, sort })),
        ),
      )
      const alone: string[][] = []
      for (const query of queries) alone.push(await ids(query))
      expect(await Promise.all(queries.map(ids))).toEqual(alone)
      expect(new Set(alone.map(String)).size).toBeGreaterThan(queries.length / 2)
    })

    it('continues inside a tie, at any position', async () => {
      const tied = ['ord_1', 'ord_2', 'ord_3', 'ord_4']
      await write(tied.map((id) => sourceOrder({ id, created_at, changed_at })))
      for (const [at, id] of tied.entries()) {
        const createdAfter = { key: Date.parse(created_at), id }
        const updatedAfter = { key: Date.parse(changed_at), id }
        expect(await ids({ after: createdAfter })).toEqual(tied.slice(0, at).toReversed())
        expect(await ids({ after: updatedAfter, sort: 'updated_at_asc' })).toEqual(
          tied.slice(at + 1),
        )
      }
    })

    it('sorts orders without updated_at last, by id', async () => {
      await write([
        sourceOrder({ id: 'ord_1', changed_at: null }),
        sourceOrder({ id: 'ord_2' }),
        sourceOrder({ id: 'ord_0', changed_at: null }),
      ])
      expect(await ids({ sort: 'updated_at_asc' })).toEqual(['ord_2', 'ord_0', 'ord_1'])
    })

    it('omits orders without updated_at under any filter on updated_at, in both sorts', async () => {
      await write([sourceOrder({ id: 'ord_1', changed_at: null }), sourceOrder({ id: 'ord_2' })])
      for (const updated of [{ gte: 0 }, { lt: NULL_INSTANT_KEY + 1 }]) {
        for (const sort of ['created_at_desc', 'updated_at_asc'] as const) {
          expect(await ids({ sort, filters: { ...everything, updated } })).toEqual(['ord_2'])
        }
      }
    })

    /** Seconds after the first date, in epoch milliseconds. */
    const at = (seconds: number) => Date.parse(changed_at) + seconds * 1_000

    it.each([
      ['from an instant on', { gte: at(0) }, ['ord_2', 'ord_3', 'ord_1']],
      ['after all dates', { gte: at(2) }, ['ord_1']],
      ['up to an instant', { lt: at(1) }, ['ord_2', 'ord_1']],
      ['between two instants', { gte: at(1), lt: at(2) }, ['ord_3', 'ord_1']],
    ])(
      'a filter on updated_at %s includes undated orders on request',
      async (_name, range, expected) => {
        await write([
          sourceOrder({ id: 'ord_1', changed_at: null }),
          sourceOrder({ id: 'ord_2', changed_at: new Date(at(0)).toISOString() }),
          sourceOrder({ id: 'ord_3', changed_at: new Date(at(1)).toISOString() }),
        ])
        const filters = { ...everything, updated: { ...range, orNull: true as const } }
        expect(await ids({ sort: 'updated_at_asc', filters })).toEqual(expected)
        const byCreation = await ids({ sort: 'created_at_desc', filters })
        expect(new Set(byCreation)).toEqual(new Set(expected))
        const after = { key: at(0), id: 'ord_2' }
        const later = expected.filter((id) => id !== 'ord_2')
        expect(await ids({ sort: 'updated_at_asc', filters, after })).toEqual(later)
      },
    )

    const paid_at = '2026-03-01T12:04:10Z'
    const product = (product_id: string) => ({
      ...{ product_id, name: 'Curso de cavaquinho', quantity: 1, unit_price: 9900 },
    })
    const buyer = (email: string, document: string | null = null) => ({
      customer: { name: 'Rita Lima', email, document },
    })
    /** Orders that differ in their buyer, products and payment, newest first. */
    const bought = [
      sourceOrder({ id: 'ord_4', created_at: '2026-03-01T12:00:04Z', ...buyer('Ana@X.com') }),
      sourceOrder({
        ...{ id: 'ord_3', created_at: '2026-03-01T12:00:03Z', paid_at },
        ...buyer('ana@x.com', '12.ABC.345/01DE-35'),
        items: [product('prod_2'), product('prod_1'), product('prod_2')],
      }),
      sourceOrder({
        ...{ id: 'ord_2', created_at: '2026-03-01T12:00:02Z', status: 'REFUNDED' },
        ...buyer('ana+1@x.com', '123.456.789-09'),
        ...{ items: [product('prod_2')], paid_at: '2026-03-01T12:04:11Z' },
      }),
      sourceOrder({
        ...{ id: 'ord_1', created_at: '2026-03-01T12:00:01Z', items: [product("prod_'%*")] },
        ...buyer(`"ana'%*"@x.com`, '12345678909'),
      }),
    ]
    const paidMs = Date.parse(paid_at)

    it.each<[string, Partial<OrderFilters>, string[]]>([
      ['a product', { productIds: ['prod_2'] }, ['ord_3', 'ord_2']],
      [
        'products, one order once',
        { productIds: ['prod_1', 'prod_2'] },
        ['ord_4', 'ord_3', 'ord_2'],
      ],
      ['a product with quotes', { productIds: ["prod_'%*"] }, ['ord_1']],
      ['a product that is a pattern', { productIds: ['prod_*', 'prod_%', 'prod_'] }, []],
      ['an e-mail in any case', { customerEmails: ['ana@x.com'] }, ['ord_4', 'ord_3']],
      ['e-mails', { customerEmails: ['ana@x.com', 'ana+1@x.com'] }, ['ord_4', 'ord_3', 'ord_2']],
      ['an e-mail with quotes', { customerEmails: [`"ana'%*"@x.com`] }, ['ord_1']],
      ['a document', { customerDocuments: ['12345678909'] }, ['ord_2', 'ord_1']],
      ['a document with letters', { customerDocuments: ['12ABC34501DE35'] }, ['ord_3']],
      ['paid_gte', { paid: { gte: paidMs } }, ['ord_3', 'ord_2']],
      ['paid_gte after an instant', { paid: { gte: paidMs + 1 } }, ['ord_2']],
      ['paid_lt', { paid: { lt: paidMs + 1 } }, ['ord_3']],
      ['paid_lt after every instant', { paid: { lt: NULL_INSTANT_KEY + 1 } }, ['ord_3', 'ord_2']],
      ['a product and a status', { productIds: ['prod_2'], statuses: ['REFUNDED'] }, ['ord_2']],
      [
        'all of them',
        {
          ...{ productIds: ['prod_2'], customerEmails: ['ana@x.com'] },
          ...{ customerDocuments: ['12ABC34501DE35'], paid: { gte: paidMs, lt: paidMs + 1 } },
          ...{ statuses: ['PAID'], paymentMethods: ['PIX'], created: { gte: 0 } },
        },
        ['ord_3'],
      ],
      [
        'filters of different orders',
        { productIds: ['prod_1'], customerDocuments: ['12345678909'] },
        [],
      ],
    ])('filters by %s in both sorts, from any position', async (_name, some, expected) => {
      await write(bought)
      const filters = { ...everything, ...some }
      const byId = expected.toReversed() // All have one updated_at.
      expect(await ids({ filters })).toEqual(expected)
      expect(await ids({ filters, sort: 'updated_at_asc' })).toEqual(byId)
      for (const [at, order] of bought.entries()) {
        const newer = bought.slice(0, at + 1).map(({ id }) => id)
        const created = { key: Date.parse(order.created_at), id: order.id }
        expect(await ids({ filters, after: created })).toEqual(
          expected.filter((id) => !newer.includes(id)),
        )
        const updated = { key: Date.parse('2026-03-01T12:05:00Z'), id: order.id }
        const older = bought.slice(at).map(({ id }) => id)
        expect(await ids({ filters, after: updated, sort: 'updated_at_asc' })).toEqual(
          byId.filter((id) => !older.includes(id)),
        )
      }
      expect(await ids({ filters, size: 1 })).toEqual(expected.slice(0, 1))
    })

    it('filters by what an order has now', async () => {
      await write([sourceOrder({ version: 1, ...buyer('ana@x.com'), items: [product('prod_1')] })])
      await write([sourceOrder({ version: 2, ...buyer('rita@x.com'), items: [product('prod_2')] })])
      const before = { customerEmails: ['ana@x.com'], productIds: ['prod_1'] }
      const now = { customerEmails: ['rita@x.com'], productIds: ['prod_2'] }
      for (const [name, texts] of Object.entries(before)) {
        expect(await ids({ filters: { ...everything, [name]: texts } })).toEqual([])
      }
      for (const [name, texts] of Object.entries(now)) {
        expect(await ids({ filters: { ...everything, [name]: texts } })).toEqual(['ord_1'])
      }
      await write([{ id: 'ord_1', version: 3, owner_account_id: 'acc_1', deleted: true }])
      expect(await ids({ filters: { ...everything, ...now } })).toEqual([])
    })

    it("filters by a buyer only among the account's own views", async () => {
      const coproducer_account_ids = ['acc_2']
      await write([
        sourceOrder({ id: 'ord_1', ...buyer('ana@x.com') }),
        sourceOrder({ id: 'ord_2', ...buyer('ana@x.com'), coproducer_account_ids }),
        sourceOrder({ id: 'ord_3', ...buyer('ana@x.com'), owner_account_id: 'acc_3' }),
        sourceOrder({ id: 'ord_4', ...buyer('rita@x.com'), coproducer_account_ids }),
      ])
      const filters = { ...everything, customerEmails: ['ana@x.com'] }
      for (const sort of ['created_at_desc', 'updated_at_asc'] as const) {
        expect(await ids({ accountId: 'acc_2', filters, sort })).toEqual(['ord_2'])
      }
    })

    it('omits texts that no filter accepts', async () => {
      const long = `${'a'.repeat(40_000)}@x.com`
      await write([
        sourceOrder({ ...buyer(long), items: [product(`prod_\0${'x'.repeat(40_000)}`)] }),
      ])
      expect(await ids()).toEqual(['ord_1'])
    })

    it('returns only the orders without updated_at that were written after the mark', async () => {
      await write([sourceOrder({ id: 'ord_5', changed_at: null }), sourceOrder({ id: 'ord_6' })])
      const mark = await store.orders.latestWrite('acc_1')
      await write([sourceOrder({ id: 'ord_1', changed_at: null })])
      expect(await ids({ sort: 'updated_at_asc', nullsWrittenAfter: mark })).toEqual([
        'ord_6',
        'ord_1',
      ])
    })

    it.each([
      ['created', 'gte', 0, ['ord_b', 'ord_a']],
      ['created', 'gte', 1, ['ord_b']],
      ['created', 'lt', 1, ['ord_a']],
      ['created', 'lt', 0, []],
      ['updated', 'gte', 0, ['ord_b', 'ord_a']],
      ['updated', 'gte', 1, ['ord_b']],
      ['updated', 'lt', 1, ['ord_a']],
      ['updated', 'lt', 0, []],
    ] as const)('filters on %s %s at %i ms after the bound', async (field, bound, ms, expected) => {
      const instant = { created: created_at, updated: changed_at }[field]
      const later = (text: string) => new Date(Date.parse(text) + 1).toISOString()
      await write([
        sourceOrder({ id: 'ord_a', created_at, changed_at }),
        sourceOrder({ id: 'ord_b', created_at: later(created_at), changed_at: later(changed_at) }),
      ])
      const filters = { ...everything, [field]: { [bound]: Date.parse(instant) + ms } }
      expect(await ids({ filters })).toEqual(expected)
    })

    it('combines the values of a filter with OR and filters with AND', async () => {
      await write([
        sourceOrder({ id: 'ord_1', status: 'PAID' }),
        sourceOrder({ id: 'ord_2', status: 'UNPAID' }),
        sourceOrder({ id: 'ord_3', status: 'TRIAL' }),
        sourceOrder({ id: 'ord_4', payments: [sourcePayment({ method: 'BOLETO' })] }),
      ])
      const statuses = ['PAID', 'UNPAID'] as const
      expect(await ids({ filters: { ...everything, statuses } })).toEqual([
        'ord_4',
        'ord_2',
        'ord_1',
      ])
      const both = { ...everything, statuses, paymentMethods: ['PIX'] as const }
      expect(await ids({ filters: both })).toEqual(['ord_2', 'ord_1'])
    })

    it('returns all available rows, up to the page size', async () => {
      await write([sourceOrder({ id: 'ord_1' }), sourceOrder({ id: 'ord_2' })])
      expect(await ids({ size: 1 })).toHaveLength(1)
      expect(await ids({ size: 2 })).toHaveLength(2)
      expect(await ids({ size: 3 })).toHaveLength(2)
    })

    it('returns no order of another account', async () => {
      await write([sourceOrder({ id: 'ord_1' })])
      expect(await ids({ accountId: 'acc_2' })).toEqual([])
      expect(await read('ord_1', 'acc_2')).toBeNull()
      expect(await store.orders.latestWrite('acc_2')).toBeNull()
    })
  })

  describe('with a single order', () => {
    const hostile = {
      __proto__x: 'a',
      'line\nbreak': '\u2028\u2029',
      '"}],"has_more":true': '{"order":{"id":"ord_other"}}',
      '': '\u0000\ufffd',
      emoji: '👩‍👩‍👧',
    }

    it('returns every key and value of a hostile tracking', async () => {
      const tracking = JSON.parse(`{"__proto__":"p","constructor":"c"}`)
      await write([sourceOrder({ tracking: { ...hostile, ...tracking } })])
      const returned = await read('ord_1')
      expect(Object.entries(returned?.tracking ?? {})).toEqual(
        Object.entries({ ...hostile, ...tracking }),
      )
    })

    it('returns and finds an order with texts that were cut within an emoji', async () => {
      const customer = { name: 'Ana \ud83d', email: 'ana\ud83d@x.com' }
      await write([sourceOrder({ customer, tracking: { 'src\ud83d': '\udf00' } })])
      expect(await read('ord_1')).toMatchObject({
        customer: { name: 'Ana \ufffd', email: 'ana\ufffd@x.com' },
        tracking: { 'src\ufffd': '\ufffd' },
      })
      const filters = { ...everything, customerEmails: ['ana\ufffd@x.com'] }
      expect(await ids({ filters })).toEqual(['ord_1'])
    })

    it('returns an order of a megabyte complete', async () => {
      const name = 'é'.repeat(500_000)
      await write([sourceOrder({ customer: { name, email: 'x@exemplo.com.br' } })])
      expect((await read('ord_1'))?.customer.name).toBe(name)
    })
  })

  describe('with a document of an older schema version', () => {
    beforeEach(async () => {
      await write([sourceOrder({ utm: { utm_source: 'x' } }), sourceOrder({ id: 'ord_2' })])
      await store.downgradeSchema('acc_1', 'ord_1', 'utm')
      await store.downgradeSchema('acc_1', 'ord_2', 'utm')
    })

    it('returns null for newer fields, by id and in a page', async () => {
      expect(await read('ord_1')).toHaveProperty('utm', null)
      const returned = (await findPage()).map(
        ({ json }) => JSON.parse(Buffer.from(json).toString()).utm,
      )
      expect(returned).toEqual([null, null])
    })

    it('updates the document only where a value differs', async () => {
      const again = [
        sourceOrder({ version: 2, utm: { utm_source: 'x' } }),
        sourceOrder({ id: 'ord_2', version: 2 }),
      ]
      expect(await write(again)).toMatchObject({ written: 1, unchanged: 1 })
      expect(await read('ord_1')).toHaveProperty('utm.utm_source', 'x')
    })
  })
})
