import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { InvalidParamError } from '../../../src/lib/errors/invalid-param-error.ts'
import { orderFilters } from '../../../src/orders/filters/filter-table.ts'
import { listParamNames, parseListParams, type RawQuery } from '../../../src/orders/list-params.ts'

function errorOf(query: RawQuery): InvalidParamError {
  try {
    parseListParams(query)
  } catch (error) {
    if (error instanceof InvalidParamError) return error
    throw error
  }
  throw new Error(`expected an InvalidParamError for ${inspect(query, { maxStringLength: 50 })}`)
}

const dates = [
  ...(['created_gte', 'created_lt', 'updated_gte', 'updated_lt'] as const),
  ...(['paid_gte', 'paid_lt'] as const),
]
const textParams = Object.values(orderFilters).flatMap((filter) =>
  filter.kind === 'text' ? [filter.param] : [],
)
const EXAMPLE = '2026-03-01T00:00:00Z'

const invalidScalars = ['', ' ']
const invalidLists = [
  '',
  ',',
  'PAID,',
  ',PAID',
  'PAID,,PAID',
  'TUDO',
  'paid',
  ' PAID',
  'PAID ',
  '*',
]
const invalidInstants = [
  '',
  'ontem',
  '2026-03-01',
  '2026-03-01T00:00:00',
  '2026-03-01T00:00:00 03:00',
  '2026-03-01T00:00:00+300',
  '2026-02-30T00:00:00Z',
  '2025-02-29T00:00:00-03:00',
  '2026-03-01T24:00:00Z',
  '2026-03-01T00:00:60Z',
  '2026-03-01T00:00:00+24:00',
  '2026-03-01 00:00:00Z',
  `${EXAMPLE},${EXAMPLE}`,
  '1772323200000',
]
/** Texts that no field of the filters by text can have; a field that can needs its own list. */
const invalidTexts = ['', ' ', ',', '*', "' OR 1=1 --", '\0', '\ud800', 'x'.repeat(10_000)]
const invalidLimits = [
  ...['0', '101', '-1', '', '5.0', '1e1', ' 5', '5 ', '+5', '0x10', '٥', '05', '00', '1000'],
  ...['1_0', '1,2', '10,', 'vinte', 'NaN', 'Infinity', 'null', '5\n', '99999999999999999999'],
]

const invalidValues: Record<(typeof listParamNames)[number], string[]> = {
  limit: invalidLimits,
  cursor: ['', 'x'.repeat(513)],
  status: [...invalidLists, 'PAID,TUDO', 'PAID;UNPAID', 'FAILED'],
  payment_method: [...invalidLists, 'PIX,', 'pix', 'PIX,CASH'],
  created_gte: invalidInstants,
  created_lt: invalidInstants,
  updated_gte: invalidInstants,
  updated_lt: invalidInstants,
  paid_gte: invalidInstants,
  paid_lt: invalidInstants,
  product_id: [...invalidTexts, 'prod_', 'PROD_1', 'prod_1,', ' prod_1', 'prod_1\0', 'offer_1'],
  customer_email: [
    ...invalidTexts,
    ...['ana', '@', 'ana@', 'ana@exemplo.com.br,', 'ana 1@exemplo.com.br', ' ana@exemplo.com.br'],
    ...['ana@exemplo.com.br\0', 'ana\n@exemplo.com.br', `${'a'.repeat(320)}@exemplo.com.br`],
  ],
  customer_document: [
    ...invalidTexts,
    ...['1234567890', '123456789012', '123456789,09', '12345678909,', 'A2345678909'],
    ...['12.ABC.345/01DE-36', '12ABC34501DE35\0', '１２３４５６７８９０９'],
  ],
  include_undated: ['', '1', '0', 'TRUE', 'yes', 'true,false', ' true'],
  sort: [
    ...invalidScalars,
    'created_at',
    'created_at_asc',
    'updated_at_desc',
    'CREATED_AT_DESC',
    'created_at_desc,updated_at_asc',
    ' created_at_desc',
  ],
}

describe.each(listParamNames)('%s', (name) => {
  it.each(invalidValues[name])(
    'the value %j is rejected with the parameter name and how to correct it',
    (value) => {
      const error = errorOf({ [name]: value })
      expect([error.name, error.param]).toEqual(['InvalidParamError', name])
      expect(error.message).toMatch(/Envie|Valores aceitos|caracteres|Exemplo/)
    },
  )

  it('an invalid parameter is named also among valid parameters', () => {
    const good = { limit: '5', status: 'PAID', created_gte: EXAMPLE, sort: 'updated_at_asc' }
    expect(errorOf({ ...good, [name]: '' }).param).toBe(name)
  })
})

describe.each(['limit', 'cursor', 'sort', 'include_undated', ...dates])('a repeated %s', (name) => {
  it.each([
    ['with equal values', ['5', '5']],
    ['with one value', ['5']],
    ['without values', []],
  ])('a repeated parameter is rejected %s', (_name, values) => {
    expect(errorOf({ [name]: values }).param).toBe(name)
  })
})

describe('the message', () => {
  it.each(['05', '001'])('the message for the limit %s excludes leading zeros', (limit) => {
    expect(errorOf({ limit }).message).toContain('sem zeros à esquerda')
  })

  it.each([
    ['2026-03-01T00:00:00 03:00', '%2B'],
    ['2026-03-01', 'hora e o fuso'],
    ['2026-03-01T00:00:00', 'Falta o fuso'],
    ['2026-02-30T00:00:00Z', 'não existe no calendário'],
    ['agora', 'RFC 3339'],
  ])('the message for the instant %j states the fault: %s', (value, hint) => {
    expect(errorOf({ created_gte: value }).message).toContain(hint)
  })

  it('the message for an unknown value lists the known ones', () => {
    expect(errorOf({ payment_method: 'CASH' }).message).toContain(
      'CREDIT_CARD, BOLETO, PIX, MULTIPLE',
    )
  })

  it('the message for an empty element states that a value is empty', () => {
    expect(errorOf({ status: 'PAID,' }).message).toContain('vazio')
  })

  it('the message for an e-mail with a space states how to send a plus sign', () => {
    expect(errorOf({ customer_email: 'ana 1@exemplo.com.br' }).message).toContain('%2B')
  })

  it('the message for an e-mail without a space contains nothing about URLs', () => {
    const { message } = errorOf({ customer_email: 'ana@' })
    expect(message).toContain('Envie o e-mail inteiro')
    expect(message).not.toContain('URL')
  })

  it.each(textParams)('the message for %s states the fault: a long text, or too many', (name) => {
    expect(errorOf({ [name]: 'x'.repeat(321) }).message).toContain('mais de 320 caracteres')
    expect(errorOf({ [name]: `${'x,'.repeat(20)}x` }).message).toContain('no máximo 20 valores')
  })

  it('the message for a cursor states how to continue', () => {
    expect(errorOf({ cursor: '' }).message).toContain('recomece a listagem sem cursor')
  })

  it.each(listParamNames.filter((name) => name !== 'cursor'))(
    'the message for %s never echoes the input',
    (name) => {
      // The empty element is invalid in a list that accepts any text.
      expect(errorOf({ [name]: '<script>,' }).message).not.toContain('<script>')
    },
  )
})

describe('a list of values', () => {
  it.each([[['PAID', '']], [['PAID', 'TUDO']], [['PAID,', 'UNPAID']], [['']]])(
    'a list of values is rejected when one occurrence is invalid: %j',
    (status) => {
      expect(errorOf({ status }).param).toBe('status')
    },
  )
})
