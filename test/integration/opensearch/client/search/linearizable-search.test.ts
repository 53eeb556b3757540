import { describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../../src/lib/errors/unavailable.ts'
import { removeMatching } from '../../../../../src/stores/opensearch/client/bulk/write-matching.ts'
import {
  MARKER_ID,
  searchLinearizable,
} from '../../../../../src/stores/opensearch/client/search/linearizable-search.ts'
import {
  foundWithMarker as found,
  stateFields as state,
} from '../../../../support/stores/scripted/linearizable-responses.ts'
import {
  GENEROUS_MS,
  thrownBy,
  useScriptedNodes,
} from '../../../../support/stores/scripted/scripted-nodes.ts'
import { type Behaviour, respond } from '../../../../support/stores/scripted/scripted-server.ts'

const { serve, connect } = useScriptedNodes()

const QUERY = { term: { account_id: 'acc_1' } }
const MARKER_WRITTEN = respond(200, { _seq_no: 7, _primary_term: 3 })

const hit = (_id: string, seqNo: number) => ({ _id, ...state(seqNo), sort: [seqNo] })

/** An index on a node that responds to the write of the marker, and then by these behaviours. */
async function start(...behaviours: Behaviour[]) {
  const { url, received } = await serve(MARKER_WRITTEN, ...behaviours)
  const target = { client: connect([url]).client, index: 'd', deadlineMs: GENEROUS_MS }
  return { target, received }
}

/** The ids of each page. */
async function search(...behaviours: Behaviour[]) {
  const { target, received } = await start(...behaviours)
  const pages: string[][] = []
  for await (const page of searchLinearizable(target, { query: QUERY, pageSize: 2 }))
    pages.push(page.map(({ id }) => id))
  return { pages, received }
}

const OUTDATED: [string, Behaviour][] = [
  ['does not find the marker', found(null, hit('a', 5))],
  ['finds the marker of an earlier search', found(state(6), hit('a', 5))],
  ['finds a marker that the cluster never accepted', found(state(9, 2), hit('a', 5))],
]

describe('a search that includes every earlier write', () => {
  it('writes a marker and searches for it beside the query, in the primary', async () => {
    const { pages, received } = await search(found(state(7), hit('a', 5)))
    expect(pages).toEqual([['a']])
    expect(received.map(({ path }) => path.split('&')[0])).toEqual([
      `/d/_doc/${MARKER_ID}?refresh=true`,
      '/d/_search?preference=_primary',
    ])
    const isMarker = { ids: { values: [MARKER_ID] } }
    expect(JSON.parse(received[1]?.body ?? '')).toMatchObject({
      query: { bool: { should: [QUERY, isMarker] } },
      post_filter: { bool: { must_not: [isMarker] } },
      aggs: { marker: { filter: isMarker } },
      sort: [{ _seq_no: 'asc' }],
    })
  })

  it('continues after the last document of a full page, up to a page that is not full', async () => {
    const { pages, received } = await search(
      found(state(7), hit('a', 1), hit('b', 4)),
      found(state(7), hit('c', 5)),
    )
    expect(pages).toEqual([['a', 'b'], ['c']])
    expect(JSON.parse(received[2]?.body ?? '')).toMatchObject({ search_after: [4] })
  })

  it('without a hit has no page', async () => {
    expect((await search(found(state(7)))).pages).toEqual([])
  })

  it.each([
    ['another process wrote its own', state(9)],
    ['a replica was promoted', state(2, 4)],
  ])('accepts a later marker, after %s', async (_what, later) => {
    expect((await search(found(later, hit('a', 5)))).pages).toEqual([['a']])
  })

  it.each(OUTDATED)('is unavailable when a node %s', async (_what, outdated) => {
    const error = await thrownBy(search(outdated))
    expect(error).toEqual(new Unavailable('an outdated copy of d responded to a search: try again'))
  })

  it('is unavailable when another node responds with a later page', async () => {
    const full = found(state(7), hit('a', 1), hit('b', 4))
    expect(await thrownBy(search(full, found(null)))).toBeInstanceOf(Unavailable)
  })
})

describe('a removal of all documents that match', () => {
  it('fails when an outdated copy finds none', async () => {
    const { target } = await start(found(null))
    expect(await thrownBy(removeMatching(target, QUERY))).toBeInstanceOf(Unavailable)
  })

  it('ends with a search that finds none', async () => {
    const removed = respond(200, {
      items: [{ delete: { status: 200, _seq_no: 8, _primary_term: 3 } }],
    })
    const { target, received } = await start(
      found(state(7), hit('a', 5)),
      removed,
      respond(200, state(9)),
      found(state(9)),
    )
    await removeMatching(target, QUERY)
    expect(received).toHaveLength(5)
    expect(received[2]?.body).toBe('{"delete":{"_id":"a","if_seq_no":5,"if_primary_term":3}}\n')
  })
})
