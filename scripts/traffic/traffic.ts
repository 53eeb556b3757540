import { isDeepStrictEqual } from 'node:util'
import { makeApiKey } from '../../src/auth/api-key.ts'
import { DEMO_ACCOUNT } from '../../src/demo/accounts.ts'
import type { Random } from '../../src/demo/random.ts'
import { type Clock, monotonicClock } from '../../src/lib/clock.ts'
import { sorts } from '../../src/orders/order-store.ts'
import type { Ask } from './ask.ts'
import { createManners } from './manners.ts'
import type { Listing, Truth } from './truth.ts'
import { createWalk, type Walk } from './walk.ts'

/** The keys that there are. */
export interface TrafficKeys {
  accounts: ReadonlyMap<string, string>
  /** Of no use any more: revoked, or expired. */
  ended: readonly string[]
  /** May read no orders; of the account that asks too much. */
  scopeless: string
}

export interface Traffic {
  /** One request with each key: a service that has seen a key knows it while OpenSearch is in trouble. */
  introductions(): Pick<Ask, 'path' | 'headers'>[]
  /** The next request of all that integrators and others send. */
  draw(): Ask
  /** One of the account that asks too much, and for which nothing has to be searched. */
  drawGreedy(): Ask
  /** Listings that were read to their end, with nothing wrong. */
  walked(): number
}

/** One account asks for more than its bucket has; only that one may be told so. */
const GREEDY_SHARE = 0.4
const ONE_STATUS_SHARE = 0.4
const LARGEST_PAGE = 20
/** Bad keys come from many addresses, and so often from one that it is blocked. */
const ONE_ADDRESS_SHARE = 0.3
const ONE_ADDRESS = '192.0.2.1'
const BAD_QUERIES = ['limit=0', 'limit=1e1', 'sort=id', 'status=paid', 'created_gte=2026-02-30']

/** Reads, walks and mistakes of several accounts, each with what has to be answered. */
export function createTraffic(
  truth: Truth,
  keys: TrafficKeys,
  random: Random,
  clock: Clock = monotonicClock,
): Traffic {
  const manners = createManners(clock)
  const polite = truth.accountIds.filter((id) => id !== DEMO_ACCOUNT)
  const idle = new Map<string, Walk[]>()
  const cursors = new Map<string, string>()
  let walked = 0

  const idsOf = (accountId: string) =>
    truth.list({ accountId, sort: 'created_at_desc' }).map(({ id }) => id)

  function anAccount(): string {
    const free = random.chance(GREEDY_SHARE) ? [] : polite.filter(manners.mayAsk)
    return free.length === 0 ? DEMO_ACCOUNT : random.pick(free)
  }

  /** What is asked with an account's own key. */
  function metered(accountId: string, path: string, status: number): Ask {
    const headers = { authorization: `Bearer ${keys.accounts.get(accountId)}` }
    return {
      path,
      headers,
      healthy: accountId === DEMO_ACCOUNT ? [status, 429] : [status],
      needsStore: status === 200,
      isMetered: true,
      settled: manners.ask(accountId),
    }
  }

  function unauthenticated(authorization: string | undefined, needsStore: boolean): Ask {
    const bytes = [0, 1, 2].map(() => random.between(1, 254))
    const address = random.chance(ONE_ADDRESS_SHARE) ? ONE_ADDRESS : ['10', ...bytes].join('.')
    return {
      path: '/v1/orders?limit=0',
      headers: { 'x-forwarded-for': address, ...(authorization && { authorization }) },
      healthy: address === ONE_ADDRESS ? [401, 429] : [401],
      needsStore,
      isMetered: false,
    }
  }

  function begin(accountId: string): Walk {
    const listing: Listing = {
      accountId,
      sort: random.pick(sorts),
      ...(random.chance(ONE_STATUS_SHARE) && { status: random.pick(['PAID', 'UNPAID']) }),
    }
    return createWalk(listing, truth.list(listing))
  }

  function page(): Ask {
    const accountId = anAccount()
    const walks = idle.get(accountId) ?? []
    idle.set(accountId, walks)
    const walk = walks.pop() ?? begin(accountId)
    const limit = random.between(1, LARGEST_PAGE)
    const ask = metered(accountId, walk.path(limit), 200)
    return {
      ...ask,
      faultOf(body) {
        const fault = walk.take(body, limit)
        if (walk.cursor !== null) cursors.set(accountId, walk.cursor)
        if (walk.isOver && fault === undefined) walked += 1
        return fault
      },
      settled() {
        ask.settled?.()
        if (!walk.isOver) walks.push(walk)
      },
    }
  }

  function order(): Ask {
    const accountId = anAccount()
    const expected = truth.find(accountId, random.pick(idsOf(accountId)))
    return {
      ...metered(accountId, `/v1/orders/${expected?.id}`, 200),
      faultOf: (body) => (isDeepStrictEqual(body, expected) ? undefined : `not ${expected?.id}`),
    }
  }

  /** One that does not exist, or that the account takes no part in. */
  function missingOrder(): Ask {
    const accountId = anAccount()
    const others = idsOf(random.pick(truth.accountIds)).filter((id) => !truth.find(accountId, id))
    const id = random.pick(['ord_missing', ...others.slice(0, 3)])
    return { ...metered(accountId, `/v1/orders/${id}`, 404), needsStore: true }
  }

  /** Of another account, or with a letter too many. */
  function badCursor(): Ask {
    const accountId = anAccount()
    const [owner, cursor = 'x'] = random.pick([...cursors, []])
    const letter = owner === accountId ? 'A' : ''
    return metered(accountId, `/v1/orders?cursor=${cursor}${letter}`, 400)
  }

  const withoutScope = (): Ask => ({
    ...metered(DEMO_ACCOUNT, '/v1/orders', 403),
    headers: { authorization: `Bearer ${keys.scopeless}` },
  })

  const kinds: readonly [weight: number, draw: () => Ask][] = [
    [50, page],
    [14, order],
    [9, missingOrder],
    [2, () => metered(anAccount(), '/v1/orders/malformed', 404)],
    [1, () => metered(anAccount(), '/v1/refunds', 404)],
    [5, () => metered(anAccount(), `/v1/orders?${random.pick(BAD_QUERIES)}`, 400)],
    [4, badCursor],
    [2, withoutScope],
    [5, () => unauthenticated(random.pick([undefined, 'Bearer key_live_x', 'Basic eDp4']), false)],
    [5, () => unauthenticated(`Bearer ${makeApiKey()}`, true)],
    [3, () => unauthenticated(`Bearer ${random.pick(keys.ended)}`, false)],
  ]
  const lots = kinds.flatMap(([weight, draw]) => Array<() => Ask>(weight).fill(draw))

  return {
    introductions: () =>
      [...keys.accounts.values(), ...keys.ended, keys.scopeless].map((key) => {
        return { path: '/v1/orders', headers: { authorization: `Bearer ${key}` } }
      }),
    draw: () => random.pick(lots)(),
    drawGreedy: () => metered(DEMO_ACCOUNT, '/v1/orders/malformed', 404),
    walked: () => walked,
  }
}
