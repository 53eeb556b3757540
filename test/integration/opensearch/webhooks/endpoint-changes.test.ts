import { describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import { readChanges } from '../../../../src/stores/opensearch/webhooks/endpoint-changes.ts'
import { opensearch } from '../../../support/stores/backend.ts'
import { GENEROUS_MS, useScriptedNodes } from '../../../support/stores/scripted/scripted-nodes.ts'
import {
  type Behaviour,
  respond,
  respondError,
} from '../../../support/stores/scripted/scripted-server.ts'
import { endpoint } from '../../../support/webhooks/endpoint.ts'
import { useOpenSearchWebhooks } from '../../../support/webhooks/stores/use-opensearch-webhooks.ts'

describe('the changes of endpoints', () => {
  const test = useOpenSearchWebhooks()
  const inserted = async (id: string) => {
    await test.stores.endpoints.insert(endpoint({ id }))
    return id
  }
  const idsSince = async (token: string | null) => {
    const { endpoints } = await test.stores.endpoints.changes(token)
    return endpoints.map(({ id }) => id).sort((one, other) => one.localeCompare(other))
  }

  it('a token of an index that was replaced returns all endpoints of the new one', async () => {
    for (const id of ['we_1', 'we_2', 'we_3']) await inserted(id)
    const { token } = await test.stores.endpoints.changes(null)
    await opensearch('DELETE', `${test.prefix}webhook-endpoints-v1`)
    const other = await test.stores.openAgain()
    await other.endpoints.insert(endpoint({ id: 'we_4' }))
    expect(await idsSince(token)).toEqual(['we_4'])
  })

  it.each(['', 'nonsense', 'x:y', ':5'])('a damaged token %j returns all', async (token) => {
    await inserted('we_1')
    expect(await idsSince(token)).toEqual(['we_1'])
  })

  it('a token of another index with as many operations returns all', async () => {
    await inserted('we_1')
    const { token } = await test.stores.endpoints.changes(null)
    expect(await idsSince(`x${token}`)).toEqual(['we_1'])
  })

  it('a token of operations that the index lost returns all', async () => {
    await inserted('we_1')
    const { token } = await test.stores.endpoints.changes(null)
    const [uuid, checkpoint] = token.split(':')
    expect(await idsSince(`${uuid}:${Number(checkpoint) + 100}`)).toEqual(['we_1'])
  })

  it('a change that is not searchable yet is returned, without a wait for its refresh', async () => {
    const { token } = await test.stores.endpoints.changes(null)
    await test.freezeSearches('webhook-endpoints')
    const source = { account_id: 'acc_1', created_at: 1, endpoint: endpoint({ id: 'we_9' }) }
    await opensearch('PUT', `${test.prefix}webhook-endpoints/_doc/we_9`, source)
    expect(await idsSince(token)).toEqual(['we_9'])
  })
})

describe('the changes since a checkpoint', () => {
  const shard = (checkpoint: unknown, primary = true) => ({
    routing: { primary, node: `node-${checkpoint}` },
    seq_no: { max_seq_no: 9, local_checkpoint: 8, global_checkpoint: checkpoint },
  })
  const statsWith = (failed: number, ...shards: object[]) =>
    respond(200, {
      _shards: { failed },
      indices: { 'e-v1': { uuid: 'U', shards: { 0: shards } } },
    })
  const stats = (...shards: object[]) => statsWith(0, ...shards)
  const refreshed = respond(200, { _shards: { failed: 0 } })
  const found = (...hits: object[]) =>
    respond(200, {
      timed_out: false,
      _shards: { total: 1, successful: 1, failed: 0 },
      hits: { hits },
    })

  const { serve, connect } = useScriptedNodes()

  async function start(...behaviours: Behaviour[]) {
    const { url, received } = await serve(...behaviours)
    const target = { client: connect([url]).client, index: 'e', deadlineMs: GENEROUS_MS }
    return { changes: (token: string | null) => readChanges(target, token), received }
  }

  it.each([
    ['all for no token', null, -1],
    ['those after a token', 'U:4', 4],
  ])('are %s, also after the checkpoint, where the next read begins', async (_what, token, gt) => {
    const { changes, received } = await start(
      stats(shard(9, false), shard(7)),
      refreshed,
      found({ _id: 'we_1', _seq_no: 9, _primary_term: 1, _source: {} }),
    )
    const state = { if_seq_no: 9, if_primary_term: 1 }
    // Operation 8 is not on every copy, and may be searchable after 9.
    expect(await changes(token)).toEqual({
      documents: [{ id: 'we_1', source: {}, state }],
      token: 'U:7',
    })
    const [, refresh, search] = received
    expect(refresh?.path).toBe('/e/_refresh')
    expect(JSON.parse(`${search?.body}`).query).toEqual({ range: { _seq_no: { gt } } })
  })

  it('cost one request where nothing changed', async () => {
    const { changes, received } = await start(stats(shard(7)))
    expect(await changes('U:7')).toEqual({ documents: [], token: 'U:7' })
    expect(received).toHaveLength(1)
  })

  it('are searched on the copy of the checkpoint, because another may be outdated', async () => {
    const { changes, received } = await start(stats(shard(9, false), shard(7)), refreshed, found())
    await changes('U:4')
    expect(received[2]?.path).toContain('/e/_search?preference=_only_nodes:node-7&')
  })

  it('are searched on the primary where OpenSearch refuses to search a node by its name', async () => {
    const { changes, received } = await start(
      stats(shard(7)),
      refreshed,
      respondError(403, 'preference_based_search_not_allowed_exception'),
      found(),
    )
    expect(await changes('U:4')).toEqual({ documents: [], token: 'U:7' })
    expect(received[3]?.path).toContain('/e/_search?preference=_primary&')
  })

  it('are unavailable when that copy is no longer on its node', async () => {
    const { changes } = await start(
      stats(shard(7)),
      refreshed,
      respondError(400, 'illegal_argument_exception'),
    )
    await expect(changes('U:4')).rejects.toBeInstanceOf(Unavailable)
  })

  it.each([
    ['no primary', stats(shard(7, false))],
    ['no checkpoint', stats(shard(undefined))],
    ['two primaries, one of which is outdated', stats(shard(7), shard(9))],
    ['no statistics of a copy, which may be the primary by now', statsWith(1, shard(7))],
    ['no index', respond(200, {})],
  ])('are unavailable where the response has %s', async (_what, behaviour) => {
    const { changes } = await start(behaviour, refreshed, found())
    await expect(changes(null)).rejects.toBeInstanceOf(Unavailable)
  })
})
