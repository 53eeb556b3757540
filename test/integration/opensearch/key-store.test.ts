import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Unavailable } from '../../../src/lib/errors/unavailable.ts'
import { RequestRejectedError } from '../../../src/stores/opensearch/client/errors.ts'
import { MARKER_ID } from '../../../src/stores/opensearch/client/search/linearizable-search.ts'
import {
  createOpenSearchKeyStore,
  type OpenSearchKeyStoreOptions,
} from '../../../src/stores/opensearch/key-store.ts'
import { keyRecord } from '../../support/stores/key-record.ts'
import {
  foundWithMarker,
  stateFields,
} from '../../support/stores/scripted/linearizable-responses.ts'
import {
  GENEROUS_MS,
  names,
  SHORT_MS,
  thrownBy,
  useScriptedNodes,
} from '../../support/stores/scripted/scripted-nodes.ts'
import {
  type Behaviour,
  type ReceivedRequest,
  respond,
  respondError,
  stall,
} from '../../support/stores/scripted/scripted-server.ts'

/** The time of a request that must arrive within it, also on a busy machine. */
const BUSY_MS = 5 * SHORT_MS
/** Page size when the store lists the keys of an account. */
const PAGE = 1_000

const { serve, connect } = useScriptedNodes()

/** A store on a scripted cluster, and whether its indices were ensured. */
async function start(...behaviours: Behaviour[]) {
  const { url, received } = await serve(...behaviours)
  return { received, ...storeOn([url]) }
}

function storeOn(urls: string[], options: Pick<OpenSearchKeyStoreOptions, 'instrument'> = {}) {
  let isPrepared = false
  const keys = createOpenSearchKeyStore({
    client: connect(urls).client,
    names,
    deadlineMs: GENEROUS_MS,
    writeDeadlineMs: GENEROUS_MS,
    ensureIndices: {
      async keys() {
        isPrepared = true
      },
    },
    ...options,
  })
  return { keys, isPrepared: () => isPrepared }
}

/** Responds with the document of the requested id. */
function respondGet(status: number, fields: object): Behaviour {
  return (response, request) => {
    const _id = request.path.split(/[/?]/)[3]
    respond(status, { _id, ...fields })(response, request)
  }
}

const source = {
  key_id: 'key_1',
  account_id: 'acc_1',
  scopes: ['orders:read'],
  name: null,
  last_four: 'wxyz',
  created_at: 0,
  life_ms: null,
  expires_at: null,
  revoked_at: null,
  last_valid_at: null,
}
const found = { found: true, _seq_no: 1, _primary_term: 1, _source: source }
const document = (_source: object) => respondGet(200, { ...found, _source })
const missing = respondGet(404, { found: false })
const written = respond(200, { result: 'updated' })

const hit = (n: number) => ({
  _id: `d${n}`,
  sort: [n, `key_${n}`],
  _source: { ...source, key_id: `key_${n}`, created_at: n },
})
const hits = (...numbers: number[]) =>
  respond(200, {
    timed_out: false,
    _shards: { total: 1, successful: 1, failed: 0 },
    hits: { hits: numbers.map(hit) },
  })
const bodyOf = (request: ReceivedRequest | undefined) => JSON.parse(request?.body ?? 'null')
const queryOf = (request: ReceivedRequest | undefined) =>
  Object.fromEntries(new URL(request?.path ?? '', 'http://x').searchParams)

describe('the lookup of a key', () => {
  it('the lookup of a key returns its record with the state of its account', async () => {
    const { keys, received } = await start(document(source), document({ blocked: true }))
    expect(await keys.find('d1')).toEqual({ key: keyRecord(), accountBlocked: true })
    expect(received.map(({ path }) => path)).toEqual(['/api-keys/_doc/d1', '/accounts/_doc/acc_1'])
  })

  it.each([
    ['without a record', missing],
    ['that was unblocked', document({ blocked: false })],
  ])('the lookup reports an account %s as not blocked', async (_who, account) => {
    const { keys } = await start(document(source), account)
    expect(await keys.find('d1')).toMatchObject({ accountBlocked: false })
  })

  it('the lookup of an unknown key returns null', async () => {
    const { keys, received } = await start(missing)
    expect(await keys.find('d1')).toBeNull()
    expect(received).toHaveLength(1)
  })

  it('the lookup sends as many requests for a revoked key as for an expired one', async () => {
    for (const end of [{ revoked_at: 5 }, { expires_at: 5 }]) {
      const { keys, received } = await start(document({ ...source, ...end }), missing)
      await keys.find('d1')
      expect(received).toHaveLength(2)
    }
  })

  it('the store is ready when both keys and accounts can be read', async () => {
    const { keys } = await start(missing, missing)
    await expect(keys.ping()).resolves.toBeUndefined()
  })

  const noIndex = respondError(404, 'index_not_found_exception')
  it.each([
    ['is missing', noIndex],
    ['is closed', respondError(400, 'index_closed_exception')],
  ])('the store is not ready when one of its indices %s', async (_what, error) => {
    for (const answers of [
      [error, missing],
      [missing, error],
    ]) {
      const { keys } = await start(...answers)
      expect(await thrownBy(keys.ping())).toBeInstanceOf(Unavailable)
    }
  })

  it.each<[string, Behaviour[]]>([
    ['the keys have no index', [noIndex]],
    ['the accounts have no index', [document(source), noIndex]],
    [
      'the account cannot be read',
      [document(source), respondError(503, 'cluster_block_exception')],
    ],
    ['the document is of another key', [respond(200, { _id: 'd2', ...found }), missing]],
    ['another key is missing', [respond(404, { _id: 'd2', found: false })]],
    ['the account is another one', [document(source), respond(200, { _id: 'acc_2', ...found })]],
    ['the document is not a key', [document({ key_id: 'key_1' }), missing]],
    ['the key has no scopes', [document({ ...source, scopes: undefined }), missing]],
  ])('the lookup of a key is unavailable when %s', async (_where, behaviours) => {
    const { keys } = await start(...behaviours)
    expect(await thrownBy(keys.find('d1'))).toBeInstanceOf(Unavailable)
  })
})

describe('concurrent lookups of keys', () => {
  /**
   * Responds to a request for several documents: those of `sources` exist, `broken` cannot be read.
   */
  const manyOf =
    (sources: Record<string, object>, broken?: string): Behaviour =>
    (response, request) => {
      const docs = (bodyOf(request).ids as string[]).map((_id) => {
        if (_id === broken) return { _id, error: { reason: 'the shard failed' } }
        const _source = sources[_id]
        return { _id, found: _source !== undefined, _source, _seq_no: 1, _primary_term: 1 }
      })
      respond(200, { docs })(response, request)
    }

  it('share one request for the keys and one for the accounts', async () => {
    const other = { ...source, key_id: 'key_2', account_id: 'acc_2' }
    const { keys, received } = await start(
      manyOf({ d1: source, d2: other }),
      manyOf({ acc_2: { blocked: true } }),
    )
    const found = await Promise.all([keys.find('d1'), keys.find('d2'), keys.find('d3')])
    expect(found.map((one) => [one?.key.keyId, one?.accountBlocked])).toEqual([
      ['key_1', false],
      ['key_2', true],
      [undefined, undefined],
    ])
    expect(received.map(({ path }) => path)).toEqual(['/api-keys/_mget', '/accounts/_mget'])
  })

  it('send at most 32 in one request', async () => {
    const { keys, received } = await start(manyOf({}))
    const digests = Array.from({ length: 66 }, (_, n) => `d${n}`)
    await Promise.allSettled(digests.map((digest) => keys.find(digest)))
    const sizes = received.map((request) => bodyOf(request).ids.length)
    expect(sizes.toSorted((a, b) => a - b)).toEqual([2, 32, 32])
  })

  it('fail alone when one document cannot be read', async () => {
    const { keys } = await start(manyOf({}, 'd1'))
    const [failed, missed] = await Promise.allSettled([keys.find('d1'), keys.find('d2')])
    expect(failed).toMatchObject({ status: 'rejected', reason: expect.any(Unavailable) })
    expect(missed).toEqual({ status: 'fulfilled', value: null })
  })

  it.each<[string, Behaviour]>([
    ['lacks a document', respond(200, { docs: [{ _id: 'd1', found: false }] })],
    [
      'is in another order',
      respond(200, { docs: ['d2', 'd1'].map((_id) => ({ _id, found: false })) }),
    ],
    ['lacks all documents', respond(200, {})],
    ['is no JSON', respond(200, 'docs')],
    ['is an error', respondError(503, 'cluster_block_exception')],
  ])('are unavailable when the response %s', async (_what, behaviour) => {
    const { keys } = await start(behaviour)
    const outcomes = await Promise.allSettled([keys.find('d1'), keys.find('d2')])
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(Unavailable) })
    }
  })

  it('end each at its own timeout', async () => {
    const { keys, received } = await start((response, request) => {
      setTimeout(() => manyOf({})(response, request), 2 * BUSY_MS)
    })
    const [none, short, full] = [keys.find('d1', 0), keys.find('d2', BUSY_MS), keys.find('d3')]
    expect(await thrownBy(none)).toBeInstanceOf(Unavailable)
    expect(await thrownBy(short)).toBeInstanceOf(Unavailable)
    expect(await full).toBeNull()
    expect(received.map(({ path }) => path)).toEqual(['/api-keys/_mget'])
    expect(bodyOf(received[0]).ids).toEqual(['d2', 'd3'])
  })
})

describe('a key lookup within the deadline of a request', () => {
  it('the lookup sends no request when no time is left', async () => {
    const { keys, received } = await start(document(source), missing)
    expect(await thrownBy(keys.find('d1', 0))).toBeInstanceOf(Unavailable)
    expect(received).toEqual([])
  })

  it('the lookup skips the account when the key used the whole deadline', async () => {
    const withinMs = 1_000
    const { url, received } = await serve(document(source), missing)
    const { keys } = storeOn([url], {
      async instrument(_operation, work) {
        const found = await work()
        await sleep(withinMs)
        return found
      },
    })
    expect(await thrownBy(keys.find('d1', withinMs))).toEqual(
      new Unavailable('the request exceeded its deadline (REQUEST_DEADLINE_MS)'),
    )
    expect(received.map(({ path }) => path)).toEqual(['/api-keys/_doc/d1'])
  })

  it('a shortened account lookup does not mark its node as failed', async () => {
    const accounts = [stall]
    const node: Behaviour = (response, request) => {
      const isOfKeys = request.path.startsWith('/api-keys/')
      const behave = isOfKeys ? document(source) : (accounts.shift() ?? missing)
      behave(response, request)
    }
    const nodes = [await serve(node), await serve(node)]
    const { keys } = storeOn(nodes.map(({ url }) => url))
    expect(await thrownBy(keys.find('d1', 2 * BUSY_MS))).toBeInstanceOf(Unavailable)
    for (let time = 0; time < 2; time++) await keys.find('d1')
    expect(nodes.map(({ received }) => received.length)).toEqual([3, 3])
  })
})

const refreshed = respond(200, { _shards: { total: 1, successful: 1, failed: 0 } })

describe('the keys of an account', () => {
  const numbers = (from: number, count: number) => Array.from({ length: count }, (_, n) => from + n)

  it('the store lists all keys of an account in pages of 1,000', async () => {
    const { keys, received } = await start(
      hits(...numbers(0, PAGE)),
      hits(...numbers(PAGE, PAGE)),
      hits(...numbers(2 * PAGE, 1)),
    )
    const listed = await keys.list('acc_1')
    expect(listed.map(({ createdAt }) => createdAt)).toEqual(numbers(0, 2 * PAGE + 1))
    expect(received.map((request) => bodyOf(request).search_after)).toEqual([
      undefined,
      [PAGE - 1, `key_${PAGE - 1}`],
      [2 * PAGE - 1, `key_${2 * PAGE - 1}`],
    ])
  })

  it('the store lists keys that no search finds yet after a refresh, also of a new index', async () => {
    const { keys, received, isPrepared } = await start(refreshed, hits(1))
    expect(await keys.list('acc_1', { refresh: true })).toMatchObject([{ keyId: 'key_1' }])
    expect(received.map(({ path }) => path.split('?')[0])).toEqual([
      '/api-keys/_refresh',
      '/api-keys/_search',
    ])
    expect(isPrepared()).toBe(true)
  })

  it('the store lists all keys oldest first or fails', async () => {
    const { keys, received } = await start(hits())
    expect(await keys.list('acc_1')).toEqual([])
    expect(bodyOf(received[0])).toMatchObject({
      query: { bool: { filter: [{ term: { account_id: 'acc_1' } }] } },
      sort: [{ created_at: 'asc' }, { key_id: 'asc' }],
    })
    expect(queryOf(received[0])).toMatchObject({ allow_partial_search_results: 'false' })
  })
})

describe('the use of a key', () => {
  const marker = stateFields(7)
  const marked = respond(201, marker)

  it.each([
    [true, foundWithMarker(marker, { _id: 'd1', ...stateFields(5) })],
    [false, foundWithMarker(marker)],
  ])('the store finds whether a key was used: %s', async (wasUsed, answer) => {
    const { keys, received } = await start(marked, answer)
    expect(await keys.wasAnyKeyUsed()).toBe(wasUsed)
    expect(received.map(({ path }) => path.split('?')[0])).toEqual([
      `/api-keys/_doc/${MARKER_ID}`,
      '/api-keys/_search',
    ])
    expect(queryOf(received[0])).toEqual({ refresh: 'true', require_alias: 'true' })
    expect(received[1]?.body).toContain('{"exists":{"field":"last_valid_at"}}')
  })

  it.each<[string, Behaviour[]]>([
    ['there are no keys to search', [respondError(404, 'index_not_found_exception')]],
    ['the search times out', [marked, respond(200, { timed_out: true })]],
    ['an outdated copy responds', [marked, foundWithMarker(null)]],
  ])('the use of a key is unknown when %s', async (_where, behaviours) => {
    const { keys } = await start(...behaviours)
    expect(await thrownBy(keys.wasAnyKeyUsed())).toBeInstanceOf(Unavailable)
  })
})

describe('the record of a key', () => {
  it('the store creates a key record without the key, visible immediately', async () => {
    const { keys, received, isPrepared } = await start(written)
    await keys.insert(keyRecord())
    expect(isPrepared()).toBe(true)
    expect(received[0]?.path).toMatch(/^\/api-keys\/_create\/d1\?/)
    expect(bodyOf(received[0])).toEqual(source)
    expect(queryOf(received[0])).toEqual({ refresh: 'wait_for', require_alias: 'true' })
  })

  it('the store rejects a duplicate key record', async () => {
    const { keys } = await start(respondError(409, 'version_conflict_engine_exception'))
    expect(await thrownBy(keys.insert(keyRecord()))).toBeInstanceOf(RequestRejectedError)
  })

  it('an update writes only the changed timestamps', async () => {
    const { keys, received } = await start(written)
    await keys.update('d1', { revokedAt: 5 })
    expect(bodyOf(received[0])).toEqual({ doc: { revoked_at: 5 }, detect_noop: false })
    expect(queryOf(received[0])).toEqual({
      refresh: 'wait_for',
      require_alias: 'true',
      retry_on_conflict: '50',
    })
  })

  it('a use is written without a wait for a refresh, because a request waits for it', async () => {
    const { keys, received } = await start(written)
    await keys.update('d1', { lastValidAt: 5 })
    expect(bodyOf(received[0])).toEqual({ doc: { last_valid_at: 5 }, detect_noop: false })
    expect(queryOf(received[0])).toMatchObject({ refresh: 'false', require_alias: 'true' })
  })
})

describe('the expiry of a key', () => {
  const conflict = respondError(409, 'version_conflict_engine_exception')

  it('brings it forward on the condition of the state it read, and again after a conflict', async () => {
    const later = { ...source, expires_at: 9 }
    const earlier = { ...source, expires_at: 4 }
    const { keys, received } = await start(document(later), conflict, document(earlier), written)
    expect(await keys.expire('d1', 5)).toBe(4)
    const requests = received.filter(({ method }) => method === 'POST')
    expect(requests.map((request) => bodyOf(request).doc.expires_at)).toEqual([5, 4])
    for (const request of requests) {
      expect(queryOf(request)).toEqual({
        refresh: 'wait_for',
        require_alias: 'true',
        if_seq_no: '1',
        if_primary_term: '1',
      })
    }
  })

  it('fails when the key is missing, or when the write fails', async () => {
    const { keys } = await start(missing)
    expect(await thrownBy(keys.expire('d1', 5))).toBeInstanceOf(Unavailable)
    const broken = await start(document(source), respondError(503, 'cluster_block_exception'))
    expect(await thrownBy(broken.keys.expire('d1', 5))).toBeInstanceOf(Unavailable)
  })
})

describe('the block of an account', () => {
  const conflict = respondError(409, 'version_conflict_engine_exception')
  const stored = respond(200, stateFields(2))
  const known = document({ blocked: false })
  const WRITE = { refresh: 'wait_for', require_alias: 'true' }

  it.each([true, false])(
    'the block of a new account is %s once it is visible, without a read',
    async (blocked) => {
      const { keys, received, isPrepared } = await start(stored)
      await keys.setAccountBlocked('acc_1', blocked)
      expect(isPrepared()).toBe(true)
      expect(bodyOf(received[0])).toEqual({ blocked })
      expect(queryOf(received[0])).toEqual({ ...WRITE, op_type: 'create' })
    },
  )

  it('replaces the state that it reads after a conflict, until nothing has changed it meanwhile', async () => {
    const { keys, received } = await start(conflict, known, conflict, known, stored)
    await keys.setAccountBlocked('acc_1', true)
    expect(queryOf(received[1])).toEqual({ preference: '_primary' })
    expect(bodyOf(received[4])).toEqual({ blocked: true })
    for (const at of [2, 4]) {
      expect(queryOf(received[at])).toEqual({ ...WRITE, if_seq_no: '1', if_primary_term: '1' })
    }
  })

  it('fails when the write fails', async () => {
    const { keys } = await start(respondError(503, 'cluster_block_exception'))
    expect(await thrownBy(keys.setAccountBlocked('acc_1', true))).toBeInstanceOf(Unavailable)
  })
})
