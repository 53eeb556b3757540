import { describe, expect, it } from 'vitest'
import { compareIndices } from '../../../../src/stores/opensearch/reindex/compare-indices.ts'
import { collect } from '../../../support/orders/collect.ts'
import { opensearch } from '../../../support/stores/backend.ts'
import { useTwoIndices } from './two-indices.ts'

const indices = useTwoIndices()

/** The ids of all differences, and the number of documents of `from`. */
async function compare() {
  const differences = await collect(compareIndices(indices.options))
  const ids = (kind: 'missing' | 'extra') =>
    differences.flatMap((one) => one[kind]).map(({ _id }) => _id)
  const scanned = differences.reduce((sum, one) => sum + one.scanned, 0)
  return { missing: ids('missing'), extra: ids('extra'), scanned }
}

describe('a comparison of two indices', () => {
  it('equal indices have no difference', async () => {
    const documents = [
      { account: 'acc_1', order: 'ord_1' },
      { account: 'acc_2', order: 'ord_1' },
    ]
    await indices.store('from', documents)
    await indices.store('to', documents)
    expect(await compare()).toEqual({ missing: [], extra: [], scanned: 2 })
  })

  it('empty indices have no difference', async () => {
    expect(await compare()).toEqual({ missing: [], extra: [], scanned: 0 })
  })

  it('a document is missing when the other index lacks it or has an older version', async () => {
    const document = (order: string, writtenKey: number) => ({ account: 'a', order, writtenKey })
    await indices.store('from', [document('absent', 5), document('newer', 5), document('older', 5)])
    await indices.store('to', [document('newer', 6), document('older', 4)])
    expect(await compare()).toMatchObject({ missing: ['a:absent', 'a:older'], extra: [] })
  })

  it.each(['from', 'to'] as const)('finds every document when only %s has some', async (name) => {
    const documents = Array.from({ length: 1_100 }, (_, n) => ({ account: 'a', order: `o${n}` }))
    await indices.store(name, documents)
    const { missing, extra, scanned } = await compare()
    const [found, others] = name === 'from' ? [missing, extra] : [extra, missing]
    expect(new Set(found)).toEqual(new Set(documents.map(({ order }) => `a:${order}`)))
    expect({ others, scanned }).toEqual({ others: [], scanned: name === 'from' ? 1_100 : 0 })
  })

  it('merges pages that end at different documents', async () => {
    const all = Array.from({ length: 2_600 }, (_, n) => {
      const lacks = { from: n % 3 === 0 || n < 900, to: n % 5 === 0 }
      return { account: `acc_${n % 7}`, order: `ord_${n}`, lacks }
    })
    const without = (name: 'from' | 'to') => all.filter(({ lacks }) => !lacks[name])
    await indices.store('from', without('from'))
    await indices.store('to', without('to'))
    const { missing, extra } = await compare()
    const ids = (documents: typeof all) =>
      new Set(documents.map(({ account, order }) => `${account}:${order}`))
    expect(new Set(missing)).toEqual(ids(without('from').filter(({ lacks }) => lacks.to)))
    expect(new Set(extra)).toEqual(ids(without('to').filter(({ lacks }) => lacks.from)))
  })

  it('sorts as OpenSearch does, by UTF-8 bytes', async () => {
    // In UTF-16, which JavaScript compares, the emoji precedes the other character.
    const documents = ['\u{ff5e}', '\u{1f600}', 'z'].map((name) => ({
      account: `acc_${name}`,
      order: `ord_${name}`,
    }))
    await indices.store('from', documents)
    await indices.store('to', documents.slice(0, 2))
    expect(await compare()).toEqual({ missing: ['acc_z:ord_z'], extra: [], scanned: 3 })
  })

  it('compares documents with equal sort keys by their ids', async () => {
    const copies = (...ids: string[]) => ids.map((id) => ({ account: 'a', order: 'o', id }))
    await indices.store('from', copies('one', 'two'))
    await indices.store('to', copies('two', 'three'))
    expect(await compare()).toMatchObject({ missing: ['one'], extra: ['three'] })
  })

  it('names a document without a write timestamp', async () => {
    const body = { account_id: 'a', id: 'o' }
    await opensearch('PUT', `${indices.options.to}/_doc/a:o?routing=a&refresh=true`, body)
    await expect(compare()).rejects.toThrow('the document a:o lacks a key field')
  })
})
