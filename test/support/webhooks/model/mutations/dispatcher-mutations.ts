import type { StoredDelivery } from '../../../../../src/webhooks/deliveries/delivery.ts'
import type { Invariant } from '../checks/violation.ts'
import type { MutateDispatcher } from '../delivering/delivering.ts'
import type { ProcessOptions } from '../delivering/dispatcher-process.ts'

/** A dispatcher with one fault, and the invariant that it breaks. */
export interface DispatcherMutation {
  name: string
  invariant: Invariant
  /** The walk to try first, where the first ones of the search do not find it. */
  firstSeed?: number
  mutate: MutateDispatcher
}

/** Faulty dispatchers, each of which the model must find. */
export const dispatcherMutations: readonly DispatcherMutation[] = [
  {
    name: 'creates a second delivery of each event',
    invariant: 4,
    mutate: mutateFanOut((deliveries) =>
      deliveries.flatMap((delivery) => [delivery, { ...delivery, id: `${delivery.id}_again` }]),
    ),
  },
  {
    name: 'forgets the deliveries of a page that it marks',
    invariant: 4,
    mutate: mutateFanOut((deliveries) => deliveries.slice(1)),
  },
  {
    name: 'sends again after a stored 2xx',
    invariant: 5,
    mutate(options) {
      const repeated = new Set<string>()
      return mutateDeliveries(options, ({ save }) => ({
        async save(rows) {
          const saved = await save(rows)
          const again = saved.flatMap((row) =>
            row?.state === 'delivered' && !repeated.has(row.id) ? [row] : [],
          )
          for (const { id } of again) repeated.add(id)
          const nextAt = options.clock()
          const pending = await save(again.map((row) => ({ ...row, state: 'pending', nextAt })))
          return saved.map((row) => pending.find((other) => other?.id === row?.id) ?? row)
        },
      }))
    },
  },
  {
    name: 'gives each attempt another webhook-id',
    invariant: 5,
    mutate(options) {
      let attempts = 0
      return {
        ...options,
        sign: (endpoint, message) =>
          options.sign(endpoint, { ...message, id: `${message.id}${++attempts}` }),
      }
    },
  },
  {
    name: 'sends an order as it first read it',
    invariant: 6,
    firstSeed: 254,
    mutate: cacheViews((cached, current) => current && cached),
  },
  {
    name: 'ignores that an order was removed',
    invariant: 7,
    firstSeed: 319,
    mutate(options) {
      const cached = cacheViews((first, current) => current ?? first)(options)
      return mutateDeliveries(cached, () => ({ forgetOrders: async () => {} }))
    },
  },
  {
    name: 'sends the last events of an order first',
    invariant: 8,
    mutate: (options) => ({
      ...mutateDeliveries(mutateFanOut((deliveries) => deliveries)(options), ({ due }) => ({
        due: async (query) => (await due(query)).toSorted(bySequenceDescending),
      })),
    }),
  },
  {
    name: 'frees the place of a request before its response',
    invariant: 9,
    firstSeed: 435,
    mutate: (options) => ({
      ...options,
      sender: {
        async send(request) {
          void options.sender.send(request)
          return { status: 200, error: null, retryAfterMs: null, durationMs: 1, excerpt: null }
        },
      },
    }),
  },
  {
    name: 'keeps the deliveries of an order that was removed',
    invariant: 10,
    firstSeed: 497,
    mutate: (options) => mutateDeliveries(options, () => ({ forgetOrders: async () => {} })),
  },
  {
    name: 'signs with the last secret alone during a roll',
    invariant: 11,
    firstSeed: 557,
    mutate: (options) => ({
      ...options,
      sign: (endpoint, message) => options.sign({ ...endpoint, previousSecret: null }, message),
    }),
  },
  {
    name: 'signs another instant than it sends',
    invariant: 11,
    mutate: (options) => ({
      ...options,
      sign: (endpoint, message) => ({
        ...options.sign(endpoint, message),
        'webhook-timestamp': `${Math.floor(message.sentAtMs / 1_000) + 1}`,
      }),
    }),
  },
]

type Stores = ProcessOptions['stores']
type Deliveries = Stores['deliveries']
type FanOut = Parameters<NonNullable<Awaited<ReturnType<Stores['events']['next']>>>['fanOut']>[0]

/** Replaces the deliveries of each page. The dispatcher reads them from the store afterwards. */
function mutateFanOut(change: (deliveries: FanOut) => FanOut): MutateDispatcher {
  return (options) => {
    const { events } = options.stores
    async function next(limit: number) {
      const page = await events.next(limit)
      if (page === null) return null
      return {
        ...page,
        async fanOut(deliveries: FanOut) {
          await page.fanOut(change(deliveries))
          return deliveries.map(() => null)
        },
      }
    }
    return { ...options, stores: { ...options.stores, events: { ...events, next } } }
  }
}

function mutateDeliveries(
  options: ProcessOptions,
  change: (deliveries: Deliveries) => Partial<Deliveries>,
): ProcessOptions {
  const { stores } = options
  const deliveries = { ...stores.deliveries, ...change(stores.deliveries) }
  return { ...options, stores: { ...stores, deliveries } }
}

type Found = Awaited<ReturnType<ProcessOptions['orders']['getMany']>>[number]

/** Replaces what is read of an order. `cached`: the first view that was read. */
function cacheViews(choose: (cached: Found, current: Found) => Found): MutateDispatcher {
  const cache = new Map<string, Found>()
  return (options) => ({
    ...options,
    orders: {
      async getMany(keys) {
        const found = await options.orders.getMany(keys)
        return keys.map(({ accountId, orderId }, at) => {
          const key = `${accountId} ${orderId}`
          const current = found[at] ?? null
          if (current !== null && !cache.has(key)) cache.set(key, current)
          return choose(cache.get(key) ?? null, current)
        })
      },
    },
  })
}

function bySequenceDescending({ event: one }: StoredDelivery, { event: other }: StoredDelivery) {
  return (other.sequence ?? 0) - (one.sequence ?? 0)
}
