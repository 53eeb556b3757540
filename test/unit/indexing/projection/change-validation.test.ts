import { describe, expect, it } from 'vitest'
import { parseChange } from '../../../../src/indexing/projection/change.ts'
import {
  orderWith,
  validationErrorOf,
  validationErrorOfText,
} from '../../../support/orders/changes.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'

const BEYOND = 2 ** 53
const accounts = (count: number) => Array.from({ length: count }, (_, n) => `acc_${n}`)
const manyKeys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 'v']))

const required = [
  ...['/id', '/version', '/owner_account_id', '/status', '/amount_total', '/created_at'],
  ...['/customer', '/customer/name', '/customer/email', '/payments', '/items'],
  ...['line1', 'line2', 'neighborhood', 'city', 'state', 'country', 'postal_code'].map(
    (field) => `/shipping_address/${field}`,
  ),
  ...['id', 'created_at', 'method', 'status', 'amount', 'interest_amount', 'discount_amount'].map(
    (field) => `/payments/0/${field}`,
  ),
  ...['/payments/0/fee', '/payments/0/card/last4'],
  ...['product_id', 'name', 'quantity', 'unit_price'].map((field) => `/items/0/${field}`),
  ...['/offer/id', '/offer/name', '/promocode/code', '/promocode/amount'],
]

const NO_TEXT = [5, true, [], {}]
const INSTANTS = [
  ...['', 'ontem', '2026-03-01', '2026-03-01T12:00:00', '2026-02-30T12:00:00Z'],
  ...['2026-03-01T12:00:00+0300', '2026-03-01T24:00:00Z', 1_772_366_400_000, {}],
]
const CENTS = [-1, 0.5, 99.9, '9900', BEYOND, 1e300, true, [], {}]
const IDS = [
  '',
  'x',
  'ord_',
  `ord_${'x'.repeat(61)}`,
  'ord_ç',
  'ord_1\n',
  ' ord_1',
  'ord_1/2',
  5,
  {},
]
const ACCOUNTS = ['', 'a b', 'ç', 'a'.repeat(65), 'acc_1\n', 'acc:1', 5, {}]

/** The field, invalid values, and the text of the error that names the valid ones. */
const rejected: [pointer: string, values: unknown[], expected: string][] = [
  ['/id', [...IDS, null], '"ord_" and 1 to 60'],
  ['/version', [0, -1, 1.5, '1', null, BEYOND, true], 'an integer from 1 to 2^53 − 1'],
  ['/owner_account_id', [...ACCOUNTS, null], '1 to 64 letters'],
  ['/deleted', ['true', 1, 'yes', {}], 'true or false'],
  [
    '/coproducer_account_ids',
    ['acc_2', 5, {}, accounts(101), [...accounts(100), 'acc_0'], Array(101).fill('acc_2')],
    'a list of at most 100 accounts, duplicates counted',
  ],
  ['/coproducer_account_ids/0', [...ACCOUNTS, null], '1 to 64 letters'],
  ['/changed_at', INSTANTS, 'RFC 3339'],
  ['/status', ['', 'paid', 'FAILED', 5, null], 'AWAITING_PAYMENT, UNPAID, PAID'],
  ['/currency', ['', 'brl', 'REAL', 'R$', 5], 'three capital letters'],
  ['/amount_total', [...CENTS, null], 'an integer from 0 to 2^53 − 1'],
  ['/amount_subtotal', CENTS, 'an integer from 0 to 2^53 − 1'],
  ['/amount_in_brl', CENTS, 'an integer from 0 to 2^53 − 1'],
  ['/created_at', [...INSTANTS, null], 'RFC 3339'],
  ['/paid_at', INSTANTS, 'RFC 3339'],
  ['/canceled_at', INSTANTS, 'RFC 3339'],
  ['/customer', [null, 'Rita', [], 5], 'an object'],
  ['/customer/name', [...NO_TEXT, null], 'a text'],
  ['/customer/email', [...NO_TEXT, null], 'a text'],
  ['/customer/phone', NO_TEXT, 'a text'],
  ['/customer/document', NO_TEXT, 'a text'],
  ['/shipping_address', ['Rua', 5, []], 'an object'],
  ['/shipping_address/line1', [...NO_TEXT, null], 'a text'],
  ['/shipping_address/line3', NO_TEXT, 'a text'],
  ['/payments', [[], null, {}, 'none'], 'a list of at least one payment'],
  ['/payments/0', [null, 'pay_1', []], 'an object'],
  ['/payments/0/id', ['', 5, null], 'a text that is not empty'],
  ['/payments/0/created_at', [...INSTANTS, null], 'RFC 3339'],
  ['/payments/0/split_group', ['', 5], 'a text that is not empty'],
  ['/payments/0/method', ['', 'pix', 'MULTIPLE', 5, null], 'CREDIT_CARD, BOLETO, PIX'],
  ['/payments/0/status', ['', 'CANCELED', 5, null], 'PENDING, FAILED, DECLINED'],
  ['/payments/0/installments', [0, -1, 1.5, '1', BEYOND], 'an integer from 1'],
  ['/payments/0/amount', [...CENTS, null], 'an integer from 0 to 2^53 − 1'],
  ['/payments/0/interest_amount', [...CENTS, null], 'an integer from 0 to 2^53 − 1'],
  ['/payments/0/discount_amount', [...CENTS, null], 'an integer from 0 to 2^53 − 1'],
  ['/payments/0/fee', [...CENTS, null], 'an integer from 0 to 2^53 − 1'],
  ['/payments/0/amount_refunded', CENTS, 'an integer from 0 to 2^53 − 1'],
  ['/payments/0/refunded_at', INSTANTS, 'RFC 3339'],
  [
    '/payments/0/decline_code',
    ['', '0051', 'AB0051', 'ab-0051', 'ABC-0051', 'AB-005', 'AB-00510', 'AB-0051\n', 51],
    'two capital letters, a hyphen, four digits',
  ],
  ['/payments/0/decline_message', NO_TEXT, 'a text'],
  ['/payments/0/card', ['VISA', 5, []], 'an object'],
  ['/payments/0/card/brand', NO_TEXT, 'a text'],
  ['/payments/0/card/last4', ['', '188', '18811', '١٨٨١', '1881\n', 1881, null], 'four digits'],
  ['/items', [null, {}, 'none'], 'a list'],
  ['/items/0', [null, 'prod_1', []], 'an object'],
  ['/items/0/product_id', ['', 'prod_', 'x', 5, null], '"prod_"'],
  ['/items/0/name', [...NO_TEXT, null], 'a text'],
  ['/items/0/quantity', [0, -1, 1.5, '1', null, BEYOND], 'an integer from 1'],
  ['/items/0/unit_price', [...CENTS, null], 'an integer from 0 to 2^53 − 1'],
  ['/items/0/currency', ['', 'brl', 5], 'three capital letters'],
  ['/items/0/offer_id', ['', 'prod_offer_', 'offer_1', 5], '"prod_offer_"'],
  ['/items/0/plan_id', ['', 'prod_offer_plan_', 'prod_offer_1', 5], '"prod_offer_plan_"'],
  ['/items/0/order_bump_id', ['', 'ob_', 'bump', 5], '"ob_"'],
  ['/offer', ['prod_offer_1', 5, []], 'an object'],
  ['/offer/id', ['', 'x', 5, null], '"prod_offer_"'],
  ['/offer/name', [...NO_TEXT, null], 'a text'],
  ['/promocode', ['SAMBA', 5, []], 'an object'],
  ['/promocode/code', [...NO_TEXT, null], 'a text'],
  ['/promocode/description', NO_TEXT, 'a text'],
  ['/promocode/amount', [1, 50, -0.5, '-50', -BEYOND, null], 'a negative integer of cents'],
  ['/utm', ['radio', 5, []], 'an object'],
  ['/utm/utm_source', NO_TEXT, 'a text'],
  ['/utm/utm_content', NO_TEXT, 'a text'],
  ['/tracking', ['src=bio', 5, [], manyKeys(1001)], 'a map of at most 1000 texts'],
  ['/tracking/src', [...NO_TEXT, null], 'a text'],
  ['/navigator', ['Mozilla', 5, []], 'an object'],
  ['/navigator/user_agent', NO_TEXT, 'a text'],
  ['/navigator/referer', NO_TEXT, 'a text'],
  ['/metadata', ['x', 5, []], 'an object'],
  ['/metadata/order_parent_id', NO_TEXT, 'a text'],
  ['/metadata/origin', NO_TEXT, 'a text'],
  ['/metadata/currency_rate', ['5.25', true, {}], 'a number'],
]

describe('an order of a sandbox', () => {
  it('is accepted with the sandbox of an account as its owner', () => {
    const change = parseChange(JSON.stringify(sourceOrder({ owner_account_id: 'acc_1.test' })))
    expect(change).toMatchObject({ ownerAccountId: 'acc_1.test' })
  })

  it('is rejected with a co-producer, whose live key would read it', () => {
    const order = sourceOrder({ owner_account_id: 'acc_1.test', coproducer_account_ids: ['acc_2'] })
    expect(parseChange(JSON.stringify(order))).toMatchObject({ path: '/coproducer_account_ids' })
  })

  it.each(['.test', 'acc_1.tests', 'acc_1.test.test', 'acc_1.live'])('is no %s', (owner) => {
    const order = sourceOrder({ owner_account_id: owner })
    expect(parseChange(JSON.stringify(order))).toMatchObject({ path: '/owner_account_id' })
  })

  it('never has a live co-producer that is a sandbox', () => {
    const order = sourceOrder({ coproducer_account_ids: ['acc_2.test'] })
    expect(parseChange(JSON.stringify(order))).toMatchObject({ path: '/coproducer_account_ids/0' })
  })
})

describe('the rejection of an order', () => {
  it.each(required)('the projection rejects an order without %s', (pointer) => {
    expect(validationErrorOf(orderWith(pointer, undefined))).toEqual({
      path: pointer,
      reason: 'is missing',
    })
  })

  describe.each(rejected)('an invalid %s', (pointer, values, expected) => {
    it.each(values.map((value) => [value]))(
      `the projection rejects the value %j: ${expected}`,
      (value) => {
        const error = validationErrorOf(orderWith(pointer, value))
        expect(error).toEqual({ path: pointer, reason: expect.stringContaining('expected ') })
        expect(error.reason).toContain(expected)
      },
    )
  })

  it('the projection reports the list index of an invalid element', () => {
    const twoItems = orderWith('/items/1', { product_id: 'prod_2', name: 5 })
    expect(validationErrorOf(twoItems).path).toBe('/items/1/quantity')
  })

  it.each([
    ['a slash', 'a/b', '/tracking/*'],
    ['a tilde', 'a~b', '/tracking/*'],
    ['a line break', 'a\nb', '/tracking/*'],
    ['an address', 'rita@exemplo.com.br', '/tracking/*'],
    ['no characters', '', '/tracking/*'],
    ['too many characters for a path', 'x'.repeat(65), '/tracking/*'],
    ['a name that every object inherits', 'constructor', '/tracking/constructor'],
  ])(
    'the projection rejects a tracking value that is no text, under a key with %s',
    (_name, key, path) => {
      const order = orderWith('/tracking', { ok: 'x', [key]: 5 })
      expect(validationErrorOf(order)).toEqual({ path, reason: expect.stringContaining('a text') })
    },
  )

  it('the projection rejects a tracking value that is no text, under the key __proto__', () => {
    const line = JSON.stringify(orderWith('/tracking', { proto: 5 }))
    expect(validationErrorOfText(line.replace('"proto"', '"__proto__"')).path).toBe(
      '/tracking/__proto__',
    )
  })

  it.each([['x'.repeat(8_193)], ['💳'.repeat(4_097)]])(
    'the projection rejects a tracking key of more than 8,192 characters',
    (key) => {
      expect(validationErrorOf(orderWith('/tracking', { ok: 'x', [key]: 'y' }))).toEqual({
        path: '/tracking/*',
        reason: 'expected keys of at most 8192 characters',
      })
    },
  )

  it('the projection rejects a currency_rate beyond the range of a number', () => {
    const line = JSON.stringify(orderWith('/metadata/currency_rate', 123456))
    expect(validationErrorOfText(line.replace('123456', '1e999')).path).toBe(
      '/metadata/currency_rate',
    )
  })
})

describe('the rejection of a line', () => {
  it.each(['', '{', '{"id":"ord_1"', 'undefined', "{'id':1}", '{} {}', '\u0000'])(
    'the projection rejects a line that is not JSON: %j',
    (text) => {
      expect(validationErrorOfText(text)).toEqual({
        path: '',
        reason: expect.stringContaining('JSON'),
      })
    },
  )

  it.each(['null', '[]', '5', '"ord_1"', 'true', '[{"deleted":true}]'])(
    'the projection rejects a line that is no object: %s',
    (text) => {
      expect(validationErrorOfText(text)).toEqual({
        path: '',
        reason: expect.stringContaining('expected an object'),
      })
    },
  )
})

describe('the reason of a rejection', () => {
  it.each([
    ['/customer/email', ['rita@exemplo.com.br']],
    ['/created_at', 'Rita Lima, 11144477735'],
    ['/customer', 'Rita Lima, 11144477735'],
    ['/customer/document', 11144477735],
    ['/customer/phone', 5541988887777],
  ])('the reason never repeats the value of a buyer: %s', (pointer, value) => {
    const { reason } = validationErrorOf(orderWith(pointer, value))
    expect(reason).not.toContain(String(value))
  })
})
