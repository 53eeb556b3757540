import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRandom } from '../../../../src/demo/random.ts'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import { type RenderedOrder, type Sort, sorts } from '../../../../src/orders/order-store.ts'
import { decodePage, decodePages } from '../../../../src/stores/opensearch/read/decode-orders.ts'
import { byEffort } from '../../../support/effort.ts'
import { hostileDocuments } from '../../../support/orders/hostile-orders.ts'
import { createBackend } from '../../../support/stores/backend.ts'
import { openRawPages } from './raw-pages.ts'

const ACCOUNT = 'acc_hostile'
const OTHER = 'acc_other'
const ORDERS = byEffort(3, 6)
const HIT = '{"_index":'
const RANDOM_DAMAGES = byEffort(4_000, 20_000)
/** Replacement bytes: JSON syntax and bytes that JSON does not allow. */
const SUBSTITUTES = Buffer.from('"\\{}[]:,01a \0\xff', 'latin1')
/** Number of replacements per position; neighbouring positions use others. */
const SUBSTITUTES_A_BYTE = byEffort(2, SUBSTITUTES.length)

const backend = createBackend()
const answers = new Map<Sort, Buffer>()
/** The same orders of another account, with valid checksum headers. */
const others = new Map<Sort, Buffer>()

beforeAll(async () => {
  const pages = await openRawPages(backend)
  await pages.load(hostileDocuments(ACCOUNT, ORDERS))
  await pages.load(hostileDocuments(OTHER, ORDERS))
  for (const sort of sorts) {
    answers.set(sort, await pages.answer(ACCOUNT, sort, ORDERS))
    others.set(sort, await pages.answer(OTHER, sort, ORDERS))
  }
  await pages.close()
})
afterAll(() => backend.remove())

const wholeAnswer = (sort: Sort) => answers.get(sort) ?? Buffer.alloc(0)

/** The rows of a response; `null` when the decoder rejects it. */
function rowsOf(answer: Buffer, sort: Sort): RenderedOrder[] | null {
  try {
    return decodePage(answer, { accountId: ACCOUNT, sort }, () => {})
  } catch (error) {
    if (error instanceof Unavailable) return null
    throw error
  }
}

/** A response with the page, and the start of it, which a second search returned. */
function withSecondPage(answer: Buffer): Buffer {
  const [start = 0, end = 0] = startsOf(answer, HIT)
  const first = Buffer.concat([answer.subarray(0, start), answer.subarray(start, end - 1)])
  const parts = ['{"took":3,"responses":[', answer.subarray(0, -1), ',"status":200},', first]
  return Buffer.concat([...parts, ']},"status":200}]}'].map((part) => Buffer.from(part)))
}

/** The pages of a response with two; `null` when the decoder rejects one or both. */
function pagesOf(answer: Buffer, sort: Sort): (RenderedOrder[] | null)[] {
  const listing = { accountId: ACCOUNT, sort }
  try {
    const pages = decodePages(answer, [listing, listing], () => {})
    return pages.map((page) => (page instanceof Error ? null : page))
  } catch (error) {
    if (error instanceof Unavailable) return [null, null]
    throw error
  }
}

const asText = ({ key, id, json }: RenderedOrder) => `${key} ${id} ${Buffer.from(json).toString()}`

/** Violations in a damaged response: rows must be complete rows of the original, in its order. */
function faultOf(damaged: Buffer, sort: Sort, whole: readonly string[]): string | undefined {
  const rows = rowsOf(damaged, sort)?.map(asText) ?? []
  let from = 0
  for (const row of rows) {
    const at = whole.indexOf(row, from)
    if (at === -1) return row
    from = at + 1
  }
  return undefined
}

function expectNoFault(sort: Sort, damages: Iterable<Buffer>): void {
  const whole = rowsOf(wholeAnswer(sort), sort)?.map(asText) ?? []
  expect(whole.length).toBe(ORDERS)
  let count = 0
  for (const damaged of damages) {
    count += 1
    const fault = faultOf(damaged, sort, whole)
    if (fault !== undefined) throw new Error(`out of ${damaged.toString()}\nreturned ${fault}`)
  }
  expect(count).toBeGreaterThan(whole.length)
}

describe.each(sorts)('a response sorted by %s', (sort) => {
  it('the decoder returns complete orders or none from a truncated response', () => {
    const answer = wholeAnswer(sort)
    for (let length = 0; length < answer.length; length += 1) {
      expect(rowsOf(answer.subarray(0, length), sort)).toBeNull()
    }
  })

  it('the decoder returns complete orders or none when any byte is missing', () => {
    expectNoFault(sort, withoutOne(wholeAnswer(sort)))
  })

  it('the decoder returns complete orders or none when any byte is replaced', () => {
    expectNoFault(sort, withAnother(wholeAnswer(sort)))
  })

  it('the decoder returns no order of another account', () => {
    const [own, other] = [wholeAnswer(sort), others.get(sort) ?? Buffer.alloc(0)]
    expect(rowsOf(other, sort)).toBeNull()
    expectNoFault(sort, spliced(own, other))
  })

  it('the decoder returns complete orders or none when parts are lost, repeated or moved', () => {
    expectNoFault(sort, rearranged(wholeAnswer(sort)))
  })
})

describe.each(sorts)('a response with two pages sorted by %s', (sort) => {
  const answer = () => withSecondPage(wholeAnswer(sort))
  const rowsOfEach = (bytes: Buffer) =>
    pagesOf(bytes, sort).map((page) => page?.map(asText) ?? null)

  it('the decoder returns both pages of a complete response', () => {
    const whole = rowsOf(wholeAnswer(sort), sort)?.map(asText)
    expect(rowsOfEach(answer())).toEqual([whole, whole?.slice(0, 1)])
  })

  it('the decoder returns for each page its complete orders or none, whichever byte is replaced', () => {
    const whole = rowsOfEach(answer())
    let rejected = 0
    for (const damaged of withAnother(answer())) {
      const pages = rowsOfEach(damaged)
      for (const [at, page] of pages.entries()) {
        if (page === null) rejected += 1
        else expect(page).toEqual(whole[at])
      }
    }
    expect(rejected).toBeGreaterThan(ORDERS)
  })

  it('the decoder rejects a truncated response', () => {
    for (let length = 0; length < answer().length; length += 7) {
      expect(rowsOfEach(answer().subarray(0, length))).toEqual([null, null])
    }
  })
})

function* withoutOne(answer: Buffer) {
  for (let at = 0; at < answer.length; at += 1) {
    yield Buffer.concat([answer.subarray(0, at), answer.subarray(at + 1)])
  }
}

function* withAnother(answer: Buffer) {
  for (let at = 0; at < answer.length; at += 1) {
    const damaged = Buffer.from(answer)
    for (let tried = 0; tried < SUBSTITUTES_A_BYTE; tried += 1) {
      const turn = (SUBSTITUTES_A_BYTE * at + tried) % SUBSTITUTES.length
      damaged[at] = SUBSTITUTES[turn] ?? 0
      yield damaged
    }
  }
}

/** Splices of two responses at every hit boundary. */
function* spliced(own: Buffer, other: Buffer) {
  for (const [first, second] of [
    [own, other],
    [other, own],
  ] as const) {
    for (const until of startsOf(first, HIT)) {
      for (const from of startsOf(second, HIT)) {
        yield Buffer.concat([first.subarray(0, until), second.subarray(from)])
      }
    }
  }
}

/** Removes, repeats or swaps parts: arbitrary bytes, whole hits, and parts within a hit. */
function* rearranged(answer: Buffer) {
  const random = createRandom(7, 7, 7)
  const hits = startsOf(answer, HIT)
  const joints = [...hits, ...startsOf(answer, '"sort":'), ...startsOf(answer, '"_source":')]
  const place = () => {
    if (random.chance(0.4)) return random.between(0, answer.length)
    return random.pick(random.chance(0.5) ? hits : joints)
  }
  for (let damage = 0; damage < RANDOM_DAMAGES; damage += 1) {
    const [a = 0, b = 0, c = 0] = [place(), place(), place()].sort((one, other) => one - other)
    const [before, first, second, after] = [
      answer.subarray(0, a),
      answer.subarray(a, b),
      answer.subarray(b, c),
      answer.subarray(c),
    ]
    yield Buffer.concat(
      random.pick([
        [before, second, after],
        [before, first, first, second, after],
        [before, second, first, after],
        [before, first, second, second],
      ]),
    )
  }
}

function startsOf(answer: Buffer, text: string): number[] {
  const starts: number[] = []
  for (let at = answer.indexOf(text); at !== -1; at = answer.indexOf(text, at + 1)) starts.push(at)
  return starts
}
