import { describe, expect, it } from 'vitest'
import { isValidationError, MAX_ORDER_BYTES } from '../../../../src/indexing/projection/change.ts'
import {
  orderIdOf,
  parseSourceLines,
  type SourceOrdersFormat,
} from '../../../../src/management/ingestion/source-lines.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'

const NDJSON = 'application/x-ndjson'
const JSON_LIST = 'application/json'
const order = (id: string) => JSON.stringify(sourceOrder({ id }))

/** The number, the id and the reason of each line. */
async function read(body: string | Buffer, format: SourceOrdersFormat) {
  const lines = await parseSourceLines(Buffer.from(body), format)
  return lines.map((line) => [
    line.lineNumber,
    orderIdOf(line),
    ...(isValidationError(line.result) ? [line.result.reason] : []),
  ])
}

describe('the lines of an NDJSON body', () => {
  it('blank lines count and have no result, with either line break', async () => {
    const body = `\r\n${order('ord_1')}\r\n  \n${order('ord_2')}`
    expect(await read(body, NDJSON)).toEqual([
      [2, 'ord_1'],
      [4, 'ord_2'],
    ])
  })

  it('an empty body has no line', async () => {
    expect(await read('', NDJSON)).toEqual([])
    expect(await read('\n \n', NDJSON)).toEqual([])
  })

  const refused: [what: string, line: string | Buffer, id: string | null, reason: string][] = [
    ['an order without a version', '{"id":"ord_7"}', 'ord_7', 'is missing'],
    ['an invalid id', '{"id":"7"}', null, 'is missing'],
    ['an id that is not a text', '{"id":7}', null, 'is missing'],
    ['half an order', '{"id":"ord_7",', null, 'not JSON'],
    ['null', 'null', null, 'expected an object'],
    ['bytes that are not UTF-8', Buffer.from([0xff]), null, 'not valid UTF-8'],
    ['a line that is too long', Buffer.alloc(MAX_ORDER_BYTES + 1, 'x'), null, 'longer than'],
  ]
  it.each(refused)('%s is refused alone', async (_what, line, id, reason) => {
    const body = Buffer.concat([Buffer.from(line), Buffer.from(`\n${order('ord_2')}`)])
    expect(await read(body, NDJSON)).toEqual([
      [1, id, expect.stringContaining(reason)],
      [2, 'ord_2'],
    ])
  })

  it('1000 lines are accepted and 1001 are not; blank ones do not count', async () => {
    const lines = Array.from({ length: 1_000 }, () => '{}\n\n').join('')
    expect(await read(lines, NDJSON)).toHaveLength(1_000)
    await expect(read(`${lines}{}`, NDJSON)).rejects.toMatchObject({ code: 'too_many_lines' })
  })

  it('10000 line breaks are accepted and 10001 are not, which bounds the blank lines', async () => {
    const blank = '\n'.repeat(10_000)
    expect(await read(blank, NDJSON)).toEqual([])
    await expect(read(`${blank}\n`, NDJSON)).rejects.toMatchObject({ code: 'too_many_lines' })
  })
})

describe('the elements of a JSON array', () => {
  it('each is a line, over several lines of text too', async () => {
    const pretty = JSON.stringify([sourceOrder(), null, [1], ''], null, 2)
    expect(await read(pretty, JSON_LIST)).toEqual([
      [1, 'ord_1'],
      [2, null, 'expected an object, got null'],
      [3, null, 'expected an object, got a list'],
      [4, null, 'expected an object, got a text'],
    ])
  })

  it('an element keeps the bytes that a stream appends, unknown fields included', async () => {
    const element = { ...sourceOrder(), later: { 'a\\"b': '\n' } }
    const [line] = await parseSourceLines(Buffer.from(JSON.stringify([element])), JSON_LIST)
    expect(JSON.parse(`${line?.line}`)).toEqual(element)
  })

  it('a number beyond all others is refused, and not read as null', async () => {
    const body = JSON.stringify([sourceOrder({ amount_in_brl: 1 })])
    for (const number of ['1e400', '-1e400']) {
      const list = body.replace('"amount_in_brl":1', `"amount_in_brl":${number}`)
      expect(await read(list, JSON_LIST)).toEqual([
        [1, 'ord_1', expect.stringContaining('expected an integer')],
      ])
    }
  })

  const invalid: [what: string, body: string | Buffer][] = [
    ['an object', '{"id":"ord_1"}'],
    ['nothing', ''],
    ['half an array', '[{}'],
    ['NDJSON', '{}\n{}'],
    ['bytes that are not UTF-8', Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d])],
    ['an array that is nested too deeply', `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
  ]
  it.each(invalid)('%s is not an array of orders', async (_what, body) => {
    await expect(read(body, JSON_LIST)).rejects.toMatchObject({ code: 'invalid_list' })
  })

  it('1001 elements are too many', async () => {
    const body = JSON.stringify(Array.from({ length: 1_001 }, () => null))
    await expect(read(body, JSON_LIST)).rejects.toMatchObject({ code: 'too_many_lines' })
  })
})
