import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Listing } from '../../../src/orders/cursor.ts'
import { createCursorCodec } from '../../../src/orders/cursor.ts'
import { noFilters, type OrderFilters } from '../../../src/orders/filters/filters.ts'
import { parseListParams, type RawQuery } from '../../../src/orders/list-params.ts'
import { accountIds, listings, pagerStates } from '../../support/orders/arbitraries.ts'
import { codec, isRejected, listing, secretOf, states } from '../../support/orders/cursors.ts'

const filters = (changes: Partial<OrderFilters> = {}): OrderFilters => ({
  ...noFilters,
  statuses: ['PAID', 'REFUNDED'],
  paymentMethods: ['PIX', 'MULTIPLE'],
  created: { gte: 1000, lt: 2000 },
  updated: { gte: 3000, lt: 4000 },
  ...changes,
})
const filtered = (changes: Partial<OrderFilters> = {}) => listing({ filters: filters(changes) })

describe('a cursor', () => {
  it('opens to the state it was sealed for', () => {
    fc.assert(
      fc.property(listings, pagerStates, (of, state) => {
        expect(codec.open(of, codec.seal(of, state))).toEqual(state)
      }),
    )
  })

  it('a cursor is the same text for the same state', () => {
    expect(codec.seal(listing(), states.full)).toBe(codec.seal(listing(), states.full))
  })

  it('needs no escape in a URL', () => {
    fc.assert(
      fc.property(listings, pagerStates, (of, state) => {
        expect(codec.seal(of, state)).toMatch(/^[A-Za-z0-9_-]+$/)
      }),
    )
  })

  it('a cursor never has more than 512 characters', () => {
    const longest = { key: 8_640_000_000_000_000, id: `ord_${'x'.repeat(60)}` }
    const state = { after: longest, dated: longest, mark: longest, nextMark: longest }
    const opener = createCursorCodec([secretOf('k'.repeat(16))])
    const of = { ...filtered(), accountId: 'a'.repeat(64) }
    const cursor = opener.seal(of, state)
    expect(cursor.length).toBeLessThanOrEqual(512)
    expect(opener.open(of, cursor)).toEqual(state)
  })
})

describe('a cursor of an earlier release', () => {
  it.each([
    ['no filter', listing(), 'AQJrMQEBAAABnKlFCgAFb3JkXzmTf5WJNXw1MAcMyQS9BaAb'],
    ['every filter', filtered(), 'AQJrMQEBAAABnKlFCgAFb3JkXzn_Ay9g1jIKJ4nOT8AvwGSV'],
    [
      'one bound',
      listing({ filters: { ...listing().filters, updated: { gte: 3000 } } }),
      'AQJrMQEBAAABnKlFCgAFb3JkXzkmPv1lthBUa7U1TvZK7lZI',
    ],
  ])('stays valid with %s', (_name, of, cursor) => {
    expect(codec.open(of, cursor)).toEqual(states.dated)
    expect(codec.seal(of, states.dated)).toBe(cursor)
  })
})

describe('a rejected cursor', () => {
  it('a cursor is rejected for any other account', () => {
    fc.assert(
      fc.property(listings, accountIds, pagerStates, (of, accountId, state) => {
        fc.pre(of.accountId !== accountId)
        expect(isRejected(codec, codec.seal(of, state), { ...of, accountId })).toBe(true)
      }),
    )
  })

  it('a cursor is rejected for an account whose id begins with the one it was sealed for', () => {
    const cursor = codec.seal(listing({ accountId: 'acc_1' }), states.dated)
    expect(isRejected(codec, cursor, listing({ accountId: 'acc_12' }))).toBe(true)
  })

  it.each([
    ['created_at_desc', 'updated_at_asc'],
    ['updated_at_asc', 'created_at_desc'],
  ] as const)('a cursor is rejected when sealed for %s and sent with %s', (sealedFor, sentWith) => {
    const cursor = codec.seal(listing({ sort: sealedFor }), states.dated)
    expect(isRejected(codec, cursor, listing({ sort: sentWith }))).toBe(true)
  })

  const others: [string, Listing][] = [
    ['without filters', listing()],
    ['with a missing status', filtered({ statuses: ['PAID'] })],
    ['with an additional status', filtered({ statuses: ['PAID', 'REFUNDED', 'TRIAL'] })],
    ['with another status', filtered({ statuses: ['PAID', 'DISPUTED'] })],
    ['without the status', filtered({ statuses: [] })],
    ['with a missing payment method', filtered({ paymentMethods: ['PIX'] })],
    ['with another payment method', filtered({ paymentMethods: ['PIX', 'BOLETO'] })],
    ['without created_gte', filtered({ created: { lt: 2000 } })],
    ['without created_lt', filtered({ created: { gte: 1000 } })],
    ['with created_gte a millisecond later', filtered({ created: { gte: 1001, lt: 2000 } })],
    ['with created_lt a millisecond later', filtered({ created: { gte: 1000, lt: 2001 } })],
    ['with the bounds of created swapped', filtered({ created: { gte: 2000, lt: 1000 } })],
    ['without updated_gte', filtered({ updated: { lt: 4000 } })],
    ['without updated_lt', filtered({ updated: { gte: 3000 } })],
    ['with updated_gte a millisecond earlier', filtered({ updated: { gte: 2999, lt: 4000 } })],
    ['with updated_lt a millisecond earlier', filtered({ updated: { gte: 3000, lt: 3999 } })],
    ['with include_undated', filtered({ updated: { gte: 3000, lt: 4000, orNull: true } })],
    [
      'with the ranges swapped',
      filtered({ created: { gte: 3000, lt: 4000 }, updated: { gte: 1000, lt: 2000 } }),
    ],
  ]

  it.each(others)('a cursor is rejected %s', (_name, other) => {
    expect(isRejected(codec, codec.seal(filtered(), states.full), other)).toBe(true)
    expect(isRejected(codec, codec.seal(other, states.full), filtered())).toBe(true)
  })

  it('a cursor is rejected with any other filters', () => {
    fc.assert(
      fc.property(listings, listings, (of, other) => {
        fc.pre(JSON.stringify(of.filters) !== JSON.stringify(other.filters))
        const sent = { ...of, filters: other.filters }
        expect(isRejected(codec, codec.seal(of, states.dated), sent)).toBe(true)
      }),
    )
  })
})

describe('a cursor with a filter of a later release', () => {
  const sent = (query: RawQuery) => listing({ filters: parseListParams(query).filters })
  const cursorOf = (query: RawQuery) => codec.seal(sent(query), states.dated)

  it.each<RawQuery>([
    { product_id: 'prod_1' },
    { customer_email: 'ana@exemplo.com.br' },
    { customer_document: '12345678909' },
    { paid_gte: '2026-03-01T00:00:00Z' },
    { paid_lt: '2026-03-01T00:00:00Z' },
  ])('a cursor with %j is rejected without it', (query) => {
    expect(isRejected(codec, cursorOf(query), sent({}))).toBe(true)
    expect(isRejected(codec, cursorOf({}), sent(query))).toBe(true)
    expect(isRejected(codec, cursorOf(query), sent(query))).toBe(false)
  })

  it.each<[string, RawQuery, RawQuery]>([
    ['case', { customer_email: 'Ana@X.com' }, { customer_email: 'ana@x.COM' }],
    [
      'punctuation',
      { customer_document: '12.ABC.345/01DE-35' },
      { customer_document: '12abc34501de35' },
    ],
    ['sequence', { product_id: ['prod_2', 'prod_1,prod_2'] }, { product_id: 'prod_1,prod_2' }],
  ])('a cursor is the same for the same texts in another %s', (_what, query, written) => {
    expect(cursorOf(written)).toBe(cursorOf(query))
  })
})

describe('equal filters written differently', () => {
  it.each<[string, Partial<OrderFilters>]>([
    ['statuses in another order', { statuses: ['REFUNDED', 'PAID'] }],
    ['a status twice', { statuses: ['PAID', 'REFUNDED', 'PAID'] }],
    ['payment methods in another order', { paymentMethods: ['MULTIPLE', 'PIX'] }],
    ['a payment method twice', { paymentMethods: ['PIX', 'PIX', 'MULTIPLE'] }],
    ['bounds given in another order', { created: { lt: 2000, gte: 1000 } }],
  ])('equal filters written differently open the same cursor: %s', (_name, written) => {
    const cursor = codec.seal(filtered(), states.full)
    expect(codec.open(filtered(written), cursor)).toEqual(states.full)
  })
})

describe('the rotation of secrets', () => {
  const cursorOf = (kid: string) => createCursorCodec([secretOf(kid)]).seal(listing(), states.full)
  const rotated = createCursorCodec([secretOf('new'), secretOf('old'), secretOf('older')])

  it('signs with the first secret', () => {
    expect(rotated.seal(listing(), states.full)).toBe(cursorOf('new'))
  })

  it.each(['new', 'old', 'older'])('verifies with each secret: %s', (kid) => {
    expect(rotated.open(listing(), cursorOf(kid))).toEqual(states.full)
  })

  it('rejects a cursor of a removed secret', () => {
    expect(isRejected(rotated, cursorOf('gone'))).toBe(true)
  })

  it('rejects a cursor whose secret was replaced under the same kid', () => {
    const replaced = createCursorCodec([{ kid: 'k1', secret: Buffer.alloc(32, 9) }])
    expect(isRejected(replaced, codec.seal(listing(), states.full))).toBe(true)
  })

  it('rejects a cursor signed by one secret under the kid of another', () => {
    const mixed = createCursorCodec([{ kid: 'new', secret: secretOf('old').secret }])
    expect(isRejected(rotated, mixed.seal(listing(), states.full))).toBe(true)
  })
})
