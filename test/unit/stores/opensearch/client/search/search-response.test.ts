import { describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../../../src/lib/errors/unavailable.ts'
import { NULL_INSTANT_KEY } from '../../../../../../src/orders/order-store.ts'
import {
  completeHits,
  completeHitsOfAllShards,
  positionOf,
} from '../../../../../../src/stores/opensearch/client/search/search-response.ts'

const hit = (sort: unknown) => ({ _id: 'acc_1:ord_1', sort, _source: { id: 'ord_1' } })
const SHARD = { total: 1, successful: 1, skipped: 0, failed: 0 }

/** A complete response of the one shard, with the hits `ord_1` and `ord_2`. */
const answer = (changes: object = {}) => ({
  took: 3,
  timed_out: false,
  _shards: SHARD,
  hits: { max_score: null, hits: [hit([1000, 'ord_1']), hit([1000, 'ord_2'])] },
  ...changes,
})

/** A response whose only hit has this sort key. */
const sortedBy = (sort: unknown) => answer({ hits: { hits: [hit(sort)] } })

describe('the hits of a search response', () => {
  it('the hits are those of the one shard that responded in time', () => {
    expect(completeHits(answer())).toEqual([hit([1000, 'ord_1']), hit([1000, 'ord_2'])])
  })

  it('the hits are empty when the shard found none', () => {
    expect(completeHits(answer({ hits: { hits: [] } }))).toEqual([])
  })

  it.each([0, -62_135_596_800_000, NULL_INSTANT_KEY, Number.MAX_SAFE_INTEGER])(
    'a hit has the sort key %d',
    (key) => {
      const [found] = completeHits(sortedBy([key, 'ord_1']))
      expect(found && positionOf(found)).toEqual({ key, id: 'ord_1' })
    },
  )
})

/** Incomplete responses. */
const incomplete: [name: string, answer: object][] = [
  ['that timed out', answer({ timed_out: true })],
  ['without timed_out', answer({ timed_out: undefined })],
  ['with timed_out as a string', answer({ timed_out: 'false' })],
  ['of no shard', answer({ _shards: { ...SHARD, total: 0, successful: 0 } })],
  ['of two shards', answer({ _shards: { ...SHARD, total: 2, successful: 2 } })],
  ['of one of two shards', answer({ _shards: { ...SHARD, total: 2 } })],
  ['whose shard failed', answer({ _shards: { ...SHARD, successful: 0, failed: 1 } })],
  ['whose shard failed at last', answer({ _shards: { ...SHARD, failed: 1 } })],
  ['whose shard did not succeed', answer({ _shards: { ...SHARD, successful: 0 } })],
  ['without the count of failures', answer({ _shards: { total: 1, successful: 1 } })],
  ['without _shards', answer({ _shards: undefined })],
  ['whose shards are null', answer({ _shards: null })],
  ['without hits', answer({ hits: undefined })],
  ['whose hits are null', answer({ hits: null })],
  ['whose list of hits is missing', answer({ hits: { total: 0 } })],
  ['whose hits are not a list', answer({ hits: { hits: {} } })],
  ['with a hit that is null', answer({ hits: { hits: [null] } })],
  [
    'with one hit that has no sort key',
    {
      ...answer({ hits: { hits: [hit([1, 'ord_1']), { _id: 'x' }] } }),
    },
  ],
  ['sorted by nothing', sortedBy([])],
  ['sorted by null', sortedBy(null)],
  ['sorted by the id alone', sortedBy(['ord_1'])],
  ['sorted by the key alone', sortedBy([1000])],
  ['sorted by a key that is null', sortedBy([null, 'ord_1'])],
  ['sorted by a key that is a text', sortedBy(['1000', 'ord_1'])],
  ['sorted by a key that is not an integer', sortedBy([1000.5, 'ord_1'])],
  ['sorted by the key of a missing field, first', sortedBy([-(2 ** 63), 'ord_1'])],
  ['sorted by the key of a missing field, last', sortedBy([2 ** 63 - 1, 'ord_1'])],
  ['sorted by the first key that is not exact', sortedBy([2 ** 53, 'ord_1'])],
  ['sorted by an id that is a number', sortedBy([1000, 1])],
  ['sorted by an id that is null', sortedBy([1000, null])],
  ['that is undefined', {}],
  ['that is a list', []],
]

describe('the validation of a search response', () => {
  it.each(incomplete)('a response %s is rejected as incomplete', (_name, answer) => {
    expect(() => completeHits(answer)).toThrow(Unavailable)
  })

  it('a response with other shards is rejected with their counts', () => {
    const several = answer({ _shards: { ...SHARD, total: 2, successful: 2 } })
    expect(() => completeHits(several)).toThrow('{"total":2,"successful":2,"failed":0}')
  })

  it('a search over all shards needs each of them', () => {
    const all = answer({ _shards: { ...SHARD, total: 3, successful: 3 } })
    expect(completeHitsOfAllShards(all)).toHaveLength(2)
    // OpenSearch does not count a shard without an active copy as failed.
    const without = answer({ _shards: { ...SHARD, total: 3, successful: 2 } })
    expect(() => completeHitsOfAllShards(without)).toThrow('"successful":2')
  })

  it('the error of an invalid response reveals nothing of its documents', () => {
    const secret = 'rita@exemplo.com.br'
    const leaky = answer({ hits: { hits: [{ _source: secret, sort: [secret, secret] }] } })
    expect(() => completeHits(leaky)).toThrow(/^((?!rita).)*$/)
  })
})
