import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import {
  ClientDisconnected,
  type RequestScope,
  unbounded,
} from '../../../../src/lib/request-scope.ts'
import { noFilters } from '../../../../src/orders/filters/filters.ts'
import { NULL_INSTANT_KEY } from '../../../../src/orders/order-store.ts'
import { IndexMissing } from '../../../../src/stores/opensearch/client/errors.ts'
import {
  createPageSearches,
  type PageSearchesOptions,
} from '../../../../src/stores/opensearch/read/page-searches.ts'
import {
  type Connected,
  GENEROUS_MS,
  SHORT_MS,
  thrownBy,
  useScriptedNodes,
} from '../../../support/stores/scripted/scripted-nodes.ts'
import {
  type Behaviour,
  type ReceivedRequest,
  respond,
  respondError,
  stall,
} from '../../../support/stores/scripted/scripted-server.ts'

const { serve, connect } = useScriptedNodes()

const ACCOUNTS = ['acc_1', 'acc_2', 'acc_3']

interface Target {
  routing: string
  preference: string
}

/** The searches of a request, by their targets. */
const targetsOf = ({ body }: ReceivedRequest): Target[] =>
  body
    .trimEnd()
    .split('\n')
    .filter((_, line) => line % 2 === 0)
    .map((line) => JSON.parse(line))

const isJoined = ({ path }: ReceivedRequest) => path === '/orders/_msearch'

const order = (accountId: string) => ({ id: `ord_of_${accountId}` })

/** A page with one order of the account. */
const pageOf = (accountId: string, changed: object = {}) => ({
  timed_out: false,
  _shards: { total: 1, successful: 1, skipped: 0, failed: 0 },
  hits: {
    hits: [
      {
        sort: [1, order(accountId).id],
        _source: {
          account_id: accountId,
          id: order(accountId).id,
          shape: 1,
          created_key: 1,
          updated_key: 1,
          order: order(accountId),
        },
      },
    ],
  },
  status: 200,
  ...changed,
})

const missing = { error: { type: 'index_not_found_exception', reason: 'no index' }, status: 404 }

/** Responds with a page for each search, or with what `part` returns for an account. */
const respondPages =
  (part: (accountId: string) => object = pageOf): Behaviour =>
  (response, request) => {
    const routing = new URL(request.path, 'http://x').searchParams.get('routing')
    const body = isJoined(request)
      ? { took: 1, responses: targetsOf(request).map((target) => part(target.routing)) }
      : part(routing ?? '')
    respond(200, body)(response, request)
  }

const findAll = ({ findPage }: Connected, accounts = ACCOUNTS) =>
  Promise.allSettled(accounts.map((account) => findPage(account)))

const idsOf = (settled: PromiseSettledResult<{ id: string }[]>[]) =>
  settled.map((page) =>
    page.status === 'fulfilled' ? page.value.map(({ id }) => id) : page.reason,
  )

/** Searches for pages with these options; `afterKey`: the last key of the page before. */
function searchOf({ client }: Connected, options: Partial<PageSearchesOptions> = {}) {
  const searchPage = createPageSearches({
    client,
    deadlineMs: GENEROUS_MS,
    onDecode: () => {},
    ...options,
  })
  return (accountId: string, afterKey?: number) => {
    const after = afterKey === undefined ? null : { key: afterKey, id: 'ord_' }
    const listing = { accountId, sort: 'updated_at_asc', filters: noFilters, after } as const
    const query = { ...listing, nullsWrittenAfter: null, size: 21 }
    return searchPage({ index: 'orders', query, bound: null, scope: unbounded })
  }
}

/** A client, and what makes it disconnect. */
function disconnecting() {
  const stops: (() => void)[] = []
  const scope: RequestScope = {
    ...unbounded,
    onDisconnect(stop) {
      stops.push(stop)
      return () => {}
    },
  }
  return { scope, disconnect: () => stops.forEach((stop) => void stop()) }
}

describe('searches for pages', () => {
  it('share an _msearch, in which each has its shard and copy, and no partial results', async () => {
    const { url, received } = await serve(respondPages())
    const store = connect([url])
    const pages = await Promise.all([
      ...ACCOUNTS.map((account) => store.findPage(account)),
      store.findPage('acc_-Z_9', 'updated_at_asc'),
    ])
    expect(pages.map(([row]) => row?.id)).toEqual(
      [...ACCOUNTS, 'acc_-Z_9'].map((account) => order(account).id),
    )
    const [request, ...others] = received
    expect(others).toEqual([])
    expect(request?.path).toBe('/orders/_msearch')
    const complete = { allow_partial_search_results: false }
    expect(request && targetsOf(request)).toEqual([
      ...ACCOUNTS.map((routing) => ({ routing, preference: `account-${routing}`, ...complete })),
      { routing: 'acc_-Z_9', preference: '_primary', ...complete },
    ])
  })

  it('have a request of their own alone, with filters, for large pages, within undated orders, and beyond eight', async () => {
    const { url, received } = await serve(respondPages())
    const { findPage } = connect([url])
    await findPage('acc_1')
    const filters = { ...noFilters, statuses: ['PAID' as const] }
    const filtered = [1, 2].map(() => findPage('acc_1', 'created_at_desc', { filters }))
    const large = [1, 2].map(() => findPage('acc_1', 'created_at_desc', { size: 101 }))
    const search = searchOf(connect([url]))
    const undated = [1, 2].map(() => search('acc_1', NULL_INSTANT_KEY))
    await Promise.all([
      ...undated,
      ...filtered,
      ...large,
      ...Array.from({ length: 9 }, () => findPage('acc_1')),
    ])
    expect(received.map(({ path }) => path.replace(/\?.*/, '')).sort()).toEqual([
      '/orders/_msearch',
      ...Array(8).fill('/orders/_search'),
    ])
    expect(received.filter(isJoined).map((request) => targetsOf(request).length)).toEqual([8])
  })

  it.each<[string, object, new (message: string) => Error]>([
    ['an error', { error: { type: 'all_shards_failed', reason: 'x' }, status: 503 }, Unavailable],
    ['a missing index', missing, IndexMissing],
    ['a timeout', pageOf('acc_2', { timed_out: true }), Unavailable],
    ['an order of another account', pageOf('acc_3'), Unavailable],
  ])('fail by themselves: %s leaves the others', async (_what, bad, expected) => {
    const { url } = await serve(
      respondPages((account) => (account === 'acc_2' ? bad : pageOf(account))),
    )
    const [first, failed, third] = idsOf(await findAll(connect([url])))
    expect([first, third]).toEqual([['ord_of_acc_1'], ['ord_of_acc_3']])
    expect(failed).toBeInstanceOf(expected)
  })

  it('have requests of their own for ten seconds after a joined one that is forbidden, which they repeat', async () => {
    const { url, received } = await serve((response, request) => {
      const behave = isJoined(request) ? respondError(403, 'security_exception') : respondPages()
      behave(response, request)
    })
    let nowMs = 0
    const search = searchOf(connect([url]), { clock: () => nowMs })
    const joinedOf = async () => {
      const before = received.filter(isJoined).length
      const pages = await Promise.all(ACCOUNTS.map((account) => search(account)))
      expect(pages.map(([row]) => row?.id)).toEqual(ACCOUNTS.map((account) => order(account).id))
      return received.filter(isJoined).length - before
    }
    expect(await joinedOf()).toBe(1)
    nowMs = 9_999
    expect(await joinedOf()).toBe(0)
    nowMs = 10_000
    expect(await joinedOf()).toBe(1)
  })

  it('have requests of their own while a joined one hangs', async () => {
    const { url, received } = await serve((response, request) => {
      if (!isJoined(request)) respondPages()(response, request)
    })
    const search = searchOf(connect([url]), { deadlineMs: 20 * SHORT_MS })
    const hanging = ACCOUNTS.map((account) => thrownBy(search(account)))
    await expect.poll(() => received.length).toBe(1)
    await sleep(6 * SHORT_MS)
    const pages = await Promise.all(ACCOUNTS.map((account) => search(account)))
    expect(pages.map(([row]) => row?.id)).toEqual(ACCOUNTS.map((account) => order(account).id))
    for (const error of await Promise.all(hanging)) expect(error).toBeInstanceOf(Unavailable)
  })

  it.each<[string, Behaviour]>([
    ['an error', respondError(503, 'cluster_block_exception')],
    ['too few pages', respond(200, { took: 1, responses: [pageOf('acc_1')] })],
    ['no pages', respond(200, {})],
  ])('fail together when their response has %s', async (_what, bad) => {
    const { url } = await serve(bad)
    for (const error of idsOf(await findAll(connect([url])))) {
      expect(error).toBeInstanceOf(Unavailable)
    }
  })

  it('free their response when the last of their requests releases it', async () => {
    const { url } = await serve(respondPages())
    const { findPage } = connect([url])
    const frees: (() => void)[] = []
    const scope = { ...unbounded, onRelease: (free: () => void) => void frees.push(free) }
    await Promise.all(ACCOUNTS.map((account) => findPage(account, 'created_at_desc', { scope })))
    expect(frees).toHaveLength(ACCOUNTS.length)
    const transfer = vi.spyOn(ArrayBuffer.prototype, 'transfer')
    for (const free of frees.slice(1)) free()
    expect(transfer).not.toHaveBeenCalled()
    frees[0]?.()
    expect(transfer).toHaveBeenCalledOnce()
    transfer.mockRestore()
  })

  it('go on for the others when a client disconnects, and end when all have', async () => {
    const closed = Promise.withResolvers<void>()
    const { url, received } = await serve((response, request) => {
      once(response, 'close').then(() => closed.resolve())
      stall(response, request)
    })
    const { findPage } = connect([url])
    const [first, second] = [disconnecting(), disconnecting()]
    const pages = [first, second].map(({ scope }) =>
      thrownBy(findPage('acc_1', 'created_at_desc', { scope })),
    )
    await expect.poll(() => received.length).toBe(1)
    first.disconnect()
    expect(await pages[0]).toBeInstanceOf(ClientDisconnected)
    expect(received.filter(isJoined)).toHaveLength(1)
    second.disconnect()
    expect(await pages[1]).toBeInstanceOf(ClientDisconnected)
    await closed.promise
  })
})
