import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { orderFilters } from '../../../src/orders/filters/filter-table.ts'
import { noFilters, type OrderFilters } from '../../../src/orders/filters/filters.ts'
import { listParamNames, parseListParams, type RawQuery } from '../../../src/orders/list-params.ts'

const defaults = {
  limit: 20,
  cursor: undefined,
  sort: 'created_at_desc',
  filters: noFilters,
}
const filtersOf = (query: RawQuery) => parseListParams(query).filters

const EXAMPLE = '2026-03-01T00:00:00Z'
const LATER = '2026-04-01T00:00:00Z'
const LONG_EMAIL = `${'a'.repeat(305)}@exemplo.com.br`

describe('no parameter', () => {
  it('defaults to 20 orders by created_at_desc, unfiltered', () => {
    expect(parseListParams({})).toEqual(defaults)
  })
})

describe('limit', () => {
  it.each(['1', '9', '10', '20', '99', '100'])('a limit of %s is accepted', (value) => {
    expect(parseListParams({ limit: value }).limit).toBe(Number(value))
  })
})

describe('cursor', () => {
  it.each(['x', 'x'.repeat(512), 'não é um cursor'])('the cursor %j is passed on', (value) => {
    expect(parseListParams({ cursor: value }).cursor).toBe(value)
  })
})

describe('sort', () => {
  it.each(['created_at_desc', 'updated_at_asc'])('the sort %s is accepted', (value) => {
    expect(parseListParams({ sort: value }).sort).toBe(value)
  })
})

describe('a list of values', () => {
  it.each<[string, string | string[], string[]]>([
    ['one value', 'PAID', ['PAID']],
    ['commas', 'PAID,UNPAID', ['PAID', 'UNPAID']],
    ['a repeated parameter', ['PAID', 'UNPAID'], ['PAID', 'UNPAID']],
    ['both', ['PAID,TRIAL', 'UNPAID'], ['PAID', 'TRIAL', 'UNPAID']],
    ['duplicates', ['PAID,PAID', 'PAID'], ['PAID']],
    [
      'every status',
      'AWAITING_PAYMENT,UNPAID,PAID,CANCELED,SHIPPED,DELIVERED,REFUNDED,DISPUTED,TRIAL',
      [
        ...['AWAITING_PAYMENT', 'UNPAID', 'PAID', 'CANCELED', 'SHIPPED'],
        ...['DELIVERED', 'REFUNDED', 'DISPUTED', 'TRIAL'],
      ],
    ],
  ])('a list of values is parsed from %s', (_name, status, statuses) => {
    expect(filtersOf({ status })).toEqual({ ...defaults.filters, statuses })
  })

  it('a list of values is parsed for every payment method', () => {
    const payment_method = ['MULTIPLE', 'PIX,BOLETO', 'CREDIT_CARD']
    const paymentMethods = ['MULTIPLE', 'PIX', 'BOLETO', 'CREDIT_CARD']
    expect(filtersOf({ payment_method })).toEqual({ ...defaults.filters, paymentMethods })
  })
})

describe('a list of texts', () => {
  it.each<[string, RawQuery, Partial<OrderFilters>]>([
    ['one product', { product_id: 'prod_1' }, { productIds: ['prod_1'] }],
    [
      'products in both forms of a list',
      { product_id: ['prod_1,prod_2', 'prod_3', 'prod_1'] },
      { productIds: ['prod_1', 'prod_2', 'prod_3'] },
    ],
    ['a product with quotes', { product_id: `prod_'"*%` }, { productIds: [`prod_'"*%`] }],
    [
      'an e-mail in any case',
      { customer_email: ['Ana+1@Exemplo.COM.br', 'ana+1@exemplo.com.br'] },
      { customerEmails: ['ana+1@exemplo.com.br'] },
    ],
    [
      'an e-mail of 320 characters',
      { customer_email: LONG_EMAIL },
      { customerEmails: [LONG_EMAIL] },
    ],
    [
      'a CPF and a CNPJ with punctuation or without',
      { customer_document: ['123.456.789-09,12345678909', '12.abc.345/01de-35'] },
      { customerDocuments: ['12345678909', '12ABC34501DE35'] },
    ],
    [
      'a CPF and a CNPJ as they are pasted, with a line break and a dash',
      { customer_document: ['123.456.789–09\r\n', '\u00a012.abc.345/01de‐35'] },
      { customerDocuments: ['12345678909', '12ABC34501DE35'] },
    ],
    [
      'a CPF with a minus sign and a CNPJ with invisible characters',
      { customer_document: ['123.456.789−09', '\u200b12.abc.345/\u00ad01de-35'] },
      { customerDocuments: ['12345678909', '12ABC34501DE35'] },
    ],
  ])('a list of texts is parsed from %s', (_name, query, filters) => {
    expect(filtersOf(query)).toEqual({ ...defaults.filters, ...filters })
  })

  it.each(Array.from('-‐‑‒–—―−﹘﹣－\u00ad\u200b'))(
    'the description allows a document with %j',
    (character) => {
      const pattern = new RegExp(orderFilters.customerDocuments.pattern)
      expect(`123.456.789${character}09`).toMatch(pattern)
    },
  )
})

describe('the bounds', () => {
  it.each([
    ['created_gte', { created: { gte: Date.parse(EXAMPLE) } }],
    ['created_lt', { created: { lt: Date.parse(EXAMPLE) } }],
    ['updated_gte', { updated: { gte: Date.parse(EXAMPLE) } }],
    ['updated_lt', { updated: { lt: Date.parse(EXAMPLE) } }],
    ['paid_gte', { paid: { gte: Date.parse(EXAMPLE) } }],
    ['paid_lt', { paid: { lt: Date.parse(EXAMPLE) } }],
  ])('the bound %s is parsed to milliseconds', (name, expected) => {
    expect(filtersOf({ [name]: EXAMPLE })).toEqual({ ...defaults.filters, ...expected })
  })

  it.each<[string, RawQuery, Partial<OrderFilters>]>([
    [
      'true with both bounds',
      { updated_gte: EXAMPLE, updated_lt: LATER, include_undated: 'true' },
      { updated: { gte: Date.parse(EXAMPLE), lt: Date.parse(LATER), orNull: true } },
    ],
    [
      'true with one bound',
      { updated_lt: EXAMPLE, include_undated: 'true' },
      { updated: { lt: Date.parse(EXAMPLE), orNull: true } },
    ],
    ['true without a bound', { include_undated: 'true' }, {}],
    [
      'false',
      { updated_gte: EXAMPLE, include_undated: 'false' },
      { updated: { gte: Date.parse(EXAMPLE) } },
    ],
  ])('include_undated is parsed as %s', (_name, query, filters) => {
    expect(filtersOf(query)).toEqual({ ...defaults.filters, ...filters })
  })

  it('the bounds are accepted in any time zone', () => {
    const { created } = filtersOf({ created_gte: '2026-02-28T21:00:00-03:00' })
    expect(created).toEqual({ gte: Date.parse(EXAMPLE) })
  })

  it.each(['created_gte', 'created_lt'])(
    'a bound finer than a millisecond is rounded up: %s',
    (name) => {
      const { created } = filtersOf({ [name]: '2026-03-01T00:00:00.0000001Z' })
      expect(Object.values(created)).toEqual([Date.parse(EXAMPLE) + 1])
    },
  )

  it('the bounds are accepted when the range is empty', () => {
    const { created } = filtersOf({ created_gte: EXAMPLE, created_lt: '2020-01-01T00:00:00Z' })
    expect(created).toEqual({ gte: Date.parse(EXAMPLE), lt: Date.parse('2020-01-01T00:00:00Z') })
  })
})

describe('unknown parameters', () => {
  const known: readonly string[] = listParamNames
  const names = fc.oneof(
    fc.string().filter((name) => !known.includes(name)),
    fc.constantFrom('Limit', 'created_gt', 'toString', 'constructor', 'filters', 'limit[]'),
  )
  const values = fc.oneof(fc.string(), fc.array(fc.string()))

  it('unknown parameters never change the result', () => {
    const query = { limit: '7', status: ['PAID', 'TRIAL'], updated_gte: EXAMPLE }
    fc.assert(
      fc.property(fc.dictionary(names, values), (unknown) => {
        expect(parseListParams({ ...unknown, ...query })).toEqual(parseListParams(query))
      }),
    )
  })
})
