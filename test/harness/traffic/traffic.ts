import { isDeepStrictEqual } from 'node:util'
import { generateApiKey } from '../../../src/auth/api-key.ts'
import { DEMO_ACCOUNT } from '../../../src/demo/accounts.ts'
import type { Random } from '../../../src/demo/random.ts'
import { type Clock, monotonicClock } from '../../../src/lib/clock.ts'
import { sorts } from '../../../src/orders/order-store.ts'
import { createAccountPacer } from './account-pacer.ts'
import type { Listing, Oracle } from './oracle.ts'
import { createPageWalk, type PageWalk } from './page-walk.ts'
import type { TrafficRequest } from './request.ts'

/** The keys by kind. */
export interface TrafficKeys {
  accounts: ReadonlyMap<string, string>
  /** Revoked or expired. */
  ended: readonly string[]
  /** Without permission to read orders; of the account that exceeds its limit. */
  scopeless: string
}

export interface Traffic {
  /** One request per key, so that the service has each key cached when OpenSearch fails. */
  warmUpRequests(): Pick<TrafficRequest, 'path' | 'headers'>[]
  /** The next request of the mix. */
  next(): TrafficRequest
  /** A request of the account that exceeds its limit; it needs no search. */
  nextOverLimit(): TrafficRequest
  /** Listings read to their end without a violation. */
  completedWalks(): number
}

/** One account exceeds its bucket; only that account may get 429. */
const OVER_LIMIT_SHARE = 0.4
const ONE_STATUS_SHARE = 0.4
const LARGEST_PAGE = 20
/** Invalid keys are sent from many addresses, and often enough from one to block it. */
const ONE_ADDRESS_SHARE = 0.3
const ONE_ADDRESS = '192.0.2.1'
const BAD_QUERIES = ['limit=0', 'limit=1e1', 'sort=id', 'status=paid', 'created_gte=2026-02-30']

/** Reads, walks and mistakes of several accounts, each with its expected response. */
export function createTraffic(
  truth: Oracle,
  keys: TrafficKeys,
  random: Random,
  clock: Clock = monotonicClock,
): Traffic {
  const manners = createAccountPacer(clock)
  const polite = truth.accountIds.filter((id) => id !== DEMO_ACCOUNT)
  const idle = new Map<string, PageWalk[]>()
  const cursors = new Map<string, string>()
  let walked = 0

  const idsOf = (accountId: string) =>
    truth.list({ accountId, sort: 'created_at_desc' }).map(({ id }) => id)

  function anAccount(): string {
    const free = random.chance(OVER_LIMIT_SHARE) ? [] : polite.filter(manners.canSend)
    return free.length === 0 ? DEMO_ACCOUNT : random.pick(free)
  }

  /** A request with an account's own key. */
  function metered(accountId: string, path: string, status: number): TrafficRequest {
    const headers = { authorization: `Bearer ${keys.accounts.get(accountId)}` }
    return {
      path,
      headers,
      expectedStatuses: accountId === DEMO_ACCOUNT ? [status, 429] : [status],
      needsStore: status === 200,
      isRateLimited: true,
      onSettled: manners.begin(accountId),
    }
  }

  function unauthenticated(authorization: string | undefined, needsStore: boolean): TrafficRequest {
    const bytes = [0, 1, 2].map(() => random.between(1, 254))
    const address = random.chance(ONE_ADDRESS_SHARE) ? ONE_ADDRESS : ['10', ...bytes].join('.')
    return {
      path: '/v1/orders?limit=0',
      headers: { 'x-forwarded-for': address, ...(authorization && { authorization }) },
      expectedStatuses: address === ONE_ADDRESS ? [401, 429] : [401],
      needsStore,
      isRateLimited: false,
    }
  }

  function begin(accountId: string): PageWalk {
    const listing: Listing = {
      accountId,
      sort: random.pick(sorts),
      ...(random.chance(ONE_STATUS_SHARE) && { status: random.pick(['PAID', 'UNPAID']) }),
    }
    return createPageWalk(listing, truth.list(listing))
  }

  function page(): TrafficRequest {
    const accountId = anAccount()
    const walks = idle.get(accountId) ?? []
    idle.set(accountId, walks)
    const walk = walks.pop() ?? begin(accountId)
    const limit = random.between(1, LARGEST_PAGE)
    const request = metered(accountId, walk.path(limit), 200)
    return {
      ...request,
      checkBody(body) {
        const fault = walk.accept(body, limit)
        if (walk.cursor !== null) cursors.set(accountId, walk.cursor)
        if (walk.isOver && fault === undefined) walked += 1
        return fault
      },
      onSettled() {
        request.onSettled?.()
        if (!walk.isOver) walks.push(walk)
      },
    }
  }

  function order(): TrafficRequest {
    const accountId = anAccount()
    const expected = truth.find(accountId, random.pick(idsOf(accountId)))
    return {
      ...metered(accountId, `/v1/orders/${expected?.id}`, 200),
      checkBody: (body) => (isDeepStrictEqual(body, expected) ? undefined : `not ${expected?.id}`),
    }
  }

  /** The id of a missing order, or of an order without the account. */
  function missingOrder(): TrafficRequest {
    const accountId = anAccount()
    const others = idsOf(random.pick(truth.accountIds)).filter((id) => !truth.find(accountId, id))
    const id = random.pick(['ord_missing', ...others.slice(0, 3)])
    return { ...metered(accountId, `/v1/orders/${id}`, 404), needsStore: true }
  }

  /** A cursor of another account, or with an extra character. */
  function badCursor(): TrafficRequest {
    const accountId = anAccount()
    const [owner, cursor = 'x'] = random.pick([...cursors, []])
    const letter = owner === accountId ? 'A' : ''
    return metered(accountId, `/v1/orders?cursor=${cursor}${letter}`, 400)
  }

  const withoutScope = (): TrafficRequest => ({
    ...metered(DEMO_ACCOUNT, '/v1/orders', 403),
    headers: { authorization: `Bearer ${keys.scopeless}` },
  })

  const kinds: readonly [weight: number, draw: () => TrafficRequest][] = [
    [50, page],
    [14, order],
    [9, missingOrder],
    [2, () => metered(anAccount(), '/v1/orders/malformed', 404)],
    [1, () => metered(anAccount(), '/v1/refunds', 404)],
    [5, () => metered(anAccount(), `/v1/orders?${random.pick(BAD_QUERIES)}`, 400)],
    [4, badCursor],
    [2, withoutScope],
    [5, () => unauthenticated(random.pick([undefined, 'Bearer key_live_x', 'Basic eDp4']), false)],
    [5, () => unauthenticated(`Bearer ${generateApiKey()}`, true)],
    [3, () => unauthenticated(`Bearer ${random.pick(keys.ended)}`, false)],
  ]
  const lots = kinds.flatMap(([weight, draw]) => Array<() => TrafficRequest>(weight).fill(draw))

  return {
    warmUpRequests: () =>
      [...keys.accounts.values(), ...keys.ended, keys.scopeless].map((key) => {
        return { path: '/v1/orders', headers: { authorization: `Bearer ${key}` } }
      }),
    next: () => random.pick(lots)(),
    nextOverLimit: () => metered(DEMO_ACCOUNT, '/v1/orders/malformed', 404),
    completedWalks: () => walked,
  }
}
