import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { orderFile } from '../../../../src/orders-cli/destinations/folder-layout.ts'

const nameOf = (id: string) => orderFile(id).name

describe('the file name of an order', () => {
  it.each([
    ['ord_1ab-2', 'ord_1ab-2.json'],
    ['ord_aB', 'ord_a+b.json'],
    ['ord_Ab', 'ord_+ab.json'],
    ['a+b', 'a%2bb.json'],
    ['../x', '%2e%2e%2fx.json'],
    ['ção😀', '%c3%a7%c3%a3o%f0%9f%98%80.json'],
  ])('the file name of the order %s is %s', (id, name) => {
    expect(nameOf(id)).toBe(name)
  })

  it('the file name of an order is unique for each id, also on a case-insensitive file system', () => {
    const id = fc.string({ unit: fc.constantFrom(...'aAbB+%2e_-'), minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(id, id, (one, other) => {
        fc.pre(one !== other)
        expect(nameOf(one).toLowerCase()).not.toBe(nameOf(other).toLowerCase())
      }),
      { numRuns: 2_000 },
    )
  })

  it('the file name of an order is in one of 256 folders of similar size', () => {
    const counts = new Map<string, number>()
    for (let n = 0; n < 25_600; n++) {
      const { shard } = orderFile(`ord_${n.toString(36)}`)
      expect(shard).toMatch(/^[0-9a-f]{2}$/)
      counts.set(shard, (counts.get(shard) ?? 0) + 1)
    }
    expect(counts.size).toBe(256)
    expect(Math.max(...counts.values())).toBeLessThan(200)
  })

  it.each([
    ['empty', ''],
    ['missing', undefined],
    ['not a string', 5],
    ['too long', 'x'.repeat(300)],
  ])('the file name of an order is rejected for an id that is %s', (_what, id) => {
    expect(() => orderFile(id)).toThrow(/id/)
  })
})
