import { describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../../src/lib/unavailable.ts'
import { NULL_UPDATED_KEY } from '../../../../../src/orders/order-store.ts'
import {
  completeHits,
  positionOf,
} from '../../../../../src/stores/opensearch/client/search-response.ts'

const hit = (sort: unknown) => ({ _id: 'acc_1:ord_1', sort, _source: { id: 'ord_1' } })
const SHARD = { total: 1, successful: 1, skipped: 0, failed: 0 }

/** The answer of the one shard, in time, with the hits `ord_1` and `ord_2`. */
const answer = (changes: object = {}) => ({
  took: 3,
  timed_out: false,
  _shards: SHARD,
  hits: { max_score: null, hits: [hit([1000, 'ord_1']), hit([1000, 'ord_2'])] },
  ...changes,
})

/** An answer whose only hit stands here in the sort. */
const sortedBy = (sort: unknown) => answer({ hits: { hits: [hit(sort)] } })

describe('the hits of an answer', () => {
  it('are those of the one shard that answered in time', () => {
    expect(completeHits(answer())).toEqual([hit([1000, 'ord_1']), hit([1000, 'ord_2'])])
  })

  it('are none where it found none', () => {
    expect(completeHits(answer({ hits: { hits: [] } }))).toEqual([])
  })

  it.each([0, -62_135_596_800_000, NULL_UPDATED_KEY, Number.MAX_SAFE_INTEGER])(
    'stand at the key %d of their sort',
    (key) => {
      const [found] = completeHits(sortedBy([key, 'ord_1']))
      expect(found && positionOf(found)).toEqual({ key, id: 'ord_1' })
    },
  )
})

/** Answers from which something may be missing. */
const incomplete: [name: string, answer: object][] = [
  ['that ran out of time', answer({ timed_out: true })],
  ['that does not tell whether it was in time', answer({ timed_out: undefined })],
  ['that tells it in a word', answer({ timed_out: 'false' })],
  ['of no shard', answer({ _shards: { ...SHARD, total: 0, successful: 0 } })],
  ['of two shards', answer({ _shards: { ...SHARD, total: 2, successful: 2 } })],
  ['of one of two shards', answer({ _shards: { ...SHARD, total: 2 } })],
  ['whose shard failed', answer({ _shards: { ...SHARD, successful: 0, failed: 1 } })],
  ['whose shard failed at last', answer({ _shards: { ...SHARD, failed: 1 } })],
  ['whose shard did not succeed', answer({ _shards: { ...SHARD, successful: 0 } })],
  ['that tells nothing of failures', answer({ _shards: { total: 1, successful: 1 } })],
  ['that tells nothing of its shards', answer({ _shards: undefined })],
  ['whose shards are null', answer({ _shards: null })],
  ['without hits', answer({ hits: undefined })],
  ['whose hits are null', answer({ hits: null })],
  ['whose list of hits is missing', answer({ hits: { total: 0 } })],
  ['whose list of hits is no list', answer({ hits: { hits: {} } })],
  ['with a hit that is null', answer({ hits: { hits: [null] } })],
  [
    'with one hit among others that stands nowhere',
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
  ['sorted by a key that is no integer', sortedBy([1000.5, 'ord_1'])],
  ['sorted by the key of a missing field, first', sortedBy([-(2 ** 63), 'ord_1'])],
  ['sorted by the key of a missing field, last', sortedBy([2 ** 63 - 1, 'ord_1'])],
  ['sorted by the first key that is not exact', sortedBy([2 ** 53, 'ord_1'])],
  ['sorted by an id that is a number', sortedBy([1000, 1])],
  ['sorted by an id that is null', sortedBy([1000, null])],
  ['that is nothing at all', {}],
  ['that is a list', []],
]

describe('an answer', () => {
  it.each(incomplete)('%s is no answer', (_name, answer) => {
    expect(() => completeHits(answer)).toThrow(Unavailable)
  })

  it('of other shards is told with what it told of them', () => {
    const several = answer({ _shards: { ...SHARD, total: 2, successful: 2 } })
    expect(() => completeHits(several)).toThrow('{"total":2,"successful":2,"failed":0}')
  })

  it('that is no answer gives away nothing of its documents', () => {
    const secret = 'rita@exemplo.com.br'
    const leaky = answer({ hits: { hits: [{ _source: secret, sort: [secret, secret] }] } })
    expect(() => completeHits(leaky)).toThrow(/^((?!rita).)*$/)
  })
})
