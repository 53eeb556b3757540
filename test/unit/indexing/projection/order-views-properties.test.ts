import type { TSchema } from '@sinclair/typebox'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { projectOrder } from '../../../../src/indexing/projection/order-views.ts'
import type { SourceOrder } from '../../../../src/indexing/projection/source-order.ts'
import { Order } from '../../../../src/orders/order.ts'
import { sourceOrders } from '../../../support/orders/arbitraries.ts'

const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
const validate = ajv.compile(Order)

const METADATA_KEYS = ['order_parent_id', 'origin', 'currency_rate']
const views = (source: SourceOrder) => projectOrder(source).views
const ordersOf = (source: SourceOrder) => views(source).map(({ order }) => order)

function always(holds: (source: SourceOrder) => void, numRuns = 300) {
  fc.assert(fc.property(sourceOrders, holds), { numRuns })
}

/** The paths at which the value lacks a key of the schema or has an additional one. */
function strangeKeys(schema: TSchema, value: unknown, path = ''): string[] {
  if (Array.isArray(value)) {
    return value.flatMap((one, at) => strangeKeys(schema['items'], one, `${path}/${at}`))
  }
  if (typeof value !== 'object' || value === null) return []
  const { properties } = (schema['anyOf'] as TSchema[] | undefined)?.[0] ?? schema
  if (properties === undefined) return []
  const wanted = path === '/metadata' ? Object.keys(value) : Object.keys(properties)
  const all = new Set([...wanted, ...Object.keys(value)])
  return [...all].flatMap((key) => {
    if (!(key in properties) || !Object.hasOwn(value, key)) return [`${path}/${key}`]
    return strangeKeys(properties[key], Reflect.get(value, key), `${path}/${key}`)
  })
}

describe('the projection of any source order', () => {
  it('the public order matches the API schema', () => {
    always((source) => {
      for (const order of ordersOf(source)) {
        validate(order)
        expect(validate.errors).toBeNull()
      }
    })
  })

  it('the public order has every key of the API schema, null without a value, and no other', () => {
    always((source) => {
      for (const order of ordersOf(source)) expect(strangeKeys(Order, order)).toEqual([])
    })
  })

  it('the public order survives serialisation as JSON', () => {
    always((source) => {
      for (const order of ordersOf(source)) {
        expect(JSON.parse(JSON.stringify(order))).toEqual(order)
        expect(JSON.stringify(order)).not.toContain('undefined')
      }
    })
  })

  it('a co-producer never sees tracking or navigator', () => {
    always((source) => {
      const coproducers = ordersOf(source).filter(({ role }) => role === 'COPRODUCER')
      for (const { tracking, navigator } of coproducers) {
        expect([tracking, navigator]).toEqual([null, null])
      }
    })
  })

  it('one account is the owner, and each account has one view', () => {
    always((source) => {
      const all = views(source)
      fc.pre(all.length > 0)
      const owners = all.filter(({ order }) => order.role === 'OWNER')
      expect(owners.map(({ accountId }) => accountId)).toEqual([source.owner_account_id])
      expect(new Set(all.map(({ accountId }) => accountId)).size).toBe(all.length)
    })
  })

  it('an order is visible unless all of its payments failed', () => {
    always((source) => {
      const isVisible = source.payments.some(({ status }) => status !== 'FAILED')
      expect(views(source).length > 0).toBe(isVisible)
    })
  })

  it('sub_total is unit_price times quantity', () => {
    always((source) => {
      for (const { items } of ordersOf(source)) {
        expect(items.map((item) => item.sub_total)).toEqual(
          source.items.map((item) => item.unit_price * item.quantity),
        )
      }
    })
  })

  it('a document has 11 digits or 14 characters, and its type by them', () => {
    always((source) => {
      for (const { customer } of ordersOf(source)) {
        const types: Record<number, string> = { 11: 'CPF', 14: 'CNPJ' }
        const { document } = customer
        if (document !== null) expect(document).toMatch(/^(\d{11}|[0-9A-Z]{12}\d{2})$/)
        expect(customer.document_type).toBe(types[document?.length ?? 0] ?? null)
      }
    })
  })

  it('metadata has only the three keys of the API schema', () => {
    const strange = { ...{ origin: 'checkout' }, cost: 12, ip: '10.0.0.1' }
    always((source) => {
      for (const { metadata } of ordersOf({ ...source, metadata: strange })) {
        expect(metadata).toEqual({ origin: 'checkout' })
      }
      for (const { metadata } of ordersOf(source)) {
        const keys = Object.keys(metadata ?? {})
        expect(keys.filter((key) => !METADATA_KEYS.includes(key))).toEqual([])
      }
    })
  })
})

describe('the projection', () => {
  const bytes = (source: SourceOrder) => JSON.stringify(projectOrder(source))

  it('the projection returns the same bytes for the same order', () => {
    always((source) => {
      expect(bytes(structuredClone(source))).toBe(bytes(source))
    })
  })

  it('the projection does not modify the source order', () => {
    always((source) => {
      const before = structuredClone(source)
      projectOrder(source)
      expect(source).toEqual(before)
    })
  })

  it('the projection returns the same bytes in any sequence of keys except those of tracking', () => {
    const reversed = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(reversed)
      if (typeof value !== 'object' || value === null) return value
      const entries = Object.entries(value).reverse()
      return Object.fromEntries(entries.map(([key, inner]) => [key, reversed(inner)]))
    }
    always(({ tracking: _, ...source }) => {
      expect(bytes(reversed(source) as SourceOrder)).toBe(bytes(source))
    })
  })

  it('the projection keeps the sequence of the tracking parameters', () => {
    always((source) => {
      const [order] = ordersOf(source)
      fc.pre(order !== undefined)
      const given = Object.entries(source.tracking ?? {})
      expect(Object.entries(order.tracking ?? {})).toEqual(given)
    })
  })

  it('the projection returns the same bytes whether an optional field is null or absent', () => {
    const withoutNulls = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(withoutNulls)
      if (typeof value !== 'object' || value === null) return value
      const entries = Object.entries(value).filter(([, inner]) => inner !== null)
      return Object.fromEntries(entries.map(([key, inner]) => [key, withoutNulls(inner)]))
    }
    always((source) => {
      expect(bytes(withoutNulls(source) as SourceOrder)).toBe(bytes(source))
    })
  })

  it('the projection returns other bytes when visible content changes', () => {
    const changes: Partial<SourceOrder>[] = [
      { status: 'SHIPPED' },
      { amount_total: 123_456_789 },
      { tracking: { 'a key': 'that is new' } },
      { metadata: { origin: 'another origin' } },
      { customer: { name: 'Somebody Else', email: 'else@exemplo.com.br' } },
      { utm: { utm_term: 'another term' } },
      { offer: { id: 'prod_offer_other', name: 'Another' } },
    ]
    always((source) => {
      const order = ordersOf(source)[0]
      fc.pre(order !== undefined && source.status !== 'SHIPPED')
      for (const change of changes) {
        expect(bytes({ ...source, ...change })).not.toBe(bytes(source))
      }
    }, 100)
  })
})
