import { describe, expect, it } from 'vitest'
import { suggestParam } from '../../../src/http/unknown-params.ts'
import { listParamNames } from '../../../src/orders/list-params.ts'

describe('suggestParam', () => {
  it.each([
    ['statuss', 'status'],
    ['statuses', 'status'],
    ['Status', 'status'],
    ['STATUS', 'status'],
    ['statsu', 'status'],
    ['state', 'status'],
    ['status[]', 'status'],
    ['status[0]', 'status'],
    ['limits', 'limit'],
    ['limti', 'limit'],
    ['Limit', 'limit'],
    ['cursro', 'cursor'],
    ['sorts', 'sort'],
    ['payment_methods', 'payment_method'],
    ['paymentMethod', 'payment_method'],
    ['payment-method', 'payment_method'],
    ['createdGte', 'created_gte'],
    ['created-gte', 'created_gte'],
    ['created[gte]', 'created_gte'],
    ['created_at_gte', 'created_gte'],
    ['created_gt', 'created_gte'],
    ['created_lte', 'created_lt'],
    ['createdAtLt', 'created_lt'],
    ['updated_at_gte', 'updated_gte'],
    ['update_gte', 'updated_gte'],
    ['updated_lte', 'updated_lt'],
  ])('suggestParam maps %s to %s by edit distance', (name, nearest) => {
    expect(suggestParam(name, listParamNames)).toBe(nearest)
  })

  it.each([
    ['page_size', 'limit'],
    ['per_page', 'limit'],
    ['pageToken', 'cursor'],
    ['next_cursor', 'cursor'],
    ['starting_after', 'cursor'],
    ['order_by', 'sort'],
    ['created_at', 'created_gte'],
    ['created_after', 'created_gte'],
    ['created_before', 'created_lt'],
    ['updated_since', 'updated_gte'],
    ['modifiedSince', 'updated_gte'],
    ['email', 'customer_email'],
    ['cpf', 'customer_document'],
    ['sku', 'product_id'],
    ['paid_at', 'paid_gte'],
  ])('suggestParam maps %s to %s by synonym', (name, nearest) => {
    expect(suggestParam(name, listParamNames)).toBe(nearest)
  })

  it.each([
    ...['foo', 'x', 'q', 'id', 'expand', 'fields', 'include', 'utm_source', 'api_key'],
    ...['total', 'gte', '', '__', 'é', '😀', '__proto__', 'constructor'],
    'statusstatusstatus',
  ])('suggestParam returns nothing for "%s"', (name) => {
    expect(suggestParam(name, listParamNames)).toBeUndefined()
  })

  it.each(listParamNames)('suggestParam returns the same name for %s', (name) => {
    expect(suggestParam(name, listParamNames)).toBe(name)
  })

  it.each(['status', 'page_size'])(
    'suggestParam returns nothing for %s on a route without parameters',
    (name) => {
      expect(suggestParam(name, [])).toBeUndefined()
    },
  )
})
