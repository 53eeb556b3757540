import { describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../../src/lib/errors/unavailable.ts'
import {
  type DocumentWrite,
  sendWrites,
} from '../../../../../src/stores/opensearch/client/bulk/send-writes.ts'
import {
  GENEROUS_MS,
  SHORT_MS,
  thrownBy,
  useScriptedNodes,
} from '../../../../support/stores/scripted/scripted-nodes.ts'
import { type Behaviour, respond } from '../../../../support/stores/scripted/scripted-server.ts'

const { serve, connect } = useScriptedNodes()

async function start(deadlineMs: number, ...behaviours: Behaviour[]) {
  const { url, received } = await serve(...behaviours)
  const target = { client: connect([url]).client, index: 'd', deadlineMs }
  const sentIds = () =>
    received.map(({ body }) =>
      body
        .split('\n')
        .filter((line) => line.includes('_id'))
        .map((line) => JSON.parse(line).create._id),
    )
  return { send: (items: readonly DocumentWrite[]) => sendWrites(target, items), received, sentIds }
}

const item = (_id: string, padding = ''): DocumentWrite => ({
  action: { create: { _id } },
  source: { padding },
})
const written = (_seq_no: number) => ({ create: { status: 201, _seq_no, _primary_term: 1 } })
const failed = (status: number, type: string) => ({
  create: { status, error: { type, reason: `why ${type}` } },
})
const items = (...of: object[]) => respond(200, { items: of })
const FULL = failed(429, 'rejected_execution_exception')
const state = (if_seq_no: number) => ({ if_seq_no, if_primary_term: 1 })

describe('a bulk of documents', () => {
  it('items that met a full queue are sent again, and keep their place in the result', async () => {
    const { send, sentIds } = await start(
      GENEROUS_MS,
      items(FULL, written(1), FULL),
      items(FULL, written(2)),
      items(written(3)),
    )
    expect(await send(['a', 'b', 'c'].map((id) => item(id)))).toEqual([3, 1, 2].map(state))
    expect(sentIds()).toEqual([['a', 'b', 'c'], ['a', 'c'], ['a']])
  })

  it('items that always meet a full queue end at the deadline', async () => {
    const { send } = await start(SHORT_MS, items(FULL))
    const error = await thrownBy(send([item('a')]))
    expect(error).toBeInstanceOf(Unavailable)
    expect(String(error)).toContain('the write queue of OpenSearch is full for d')
  })

  it('conflicts and missing documents are results of their items', async () => {
    const { send } = await start(
      GENEROUS_MS,
      items(
        failed(409, 'version_conflict_engine_exception'),
        failed(404, 'document_missing_exception'),
        { delete: { status: 404, _seq_no: 4, _primary_term: 1 } },
        written(5),
      ),
    )
    expect(await send(['a', 'b', 'c', 'd'].map((id) => item(id)))).toEqual([
      'conflict',
      'missing',
      'missing',
      state(5),
    ])
  })

  it('large items are sent in several requests, in order', async () => {
    const large = 'x'.repeat(5 * 1024 * 1024)
    const { send, sentIds } = await start(GENEROUS_MS, items(written(1)), items(written(2)))
    expect(await send([item('a', large), item('b', large)])).toEqual([1, 2].map(state))
    expect(sentIds()).toEqual([['a'], ['b']])
  })

  it('no item sends no request', async () => {
    const { send, received } = await start(GENEROUS_MS, items())
    expect(await send([])).toEqual([])
    expect(received).toEqual([])
  })

  it.each([
    ['a response without an item', items()],
    ['an item of a missing index', items(failed(404, 'index_not_found_exception'))],
    ['an item of a blocked index', items(failed(429, 'cluster_block_exception'))],
    ['an item without its sequence number', items({ create: { status: 201 } })],
    ['an item of a failed shard', items(failed(503, 'unavailable_shards_exception'))],
  ])('%s is an unknown outcome', async (_what, behaviour) => {
    const { send } = await start(GENEROUS_MS, behaviour)
    expect(await thrownBy(send([item('a')]))).toBeInstanceOf(Unavailable)
  })

  it.each(['strict_dynamic_mapping_exception', 'mapper_parsing_exception'])(
    'an item that OpenSearch rejects with %s is an error, not an outage',
    async (type) => {
      const { send } = await start(GENEROUS_MS, items(failed(400, type)))
      const error = await thrownBy(send([item('a')]))
      expect(error).not.toBeInstanceOf(Unavailable)
      expect(String(error)).toContain(`OpenSearch did not write a document of d: 400 ${type}`)
    },
  )
})
