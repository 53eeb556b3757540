import { setImmediate } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import type { StoredDelivery } from '../../../../../src/webhooks/deliveries/delivery.ts'
import {
  createEndpointLifecycle,
  type EndpointLifecycle,
} from '../../../../../src/webhooks/dispatcher/health/endpoint-lifecycle.ts'
import type { Endpoint } from '../../../../../src/webhooks/endpoints/endpoint.ts'
import { attempt, type DeliveryChanges, delivery } from '../../../../support/webhooks/delivery.ts'
import { endpoint } from '../../../../support/webhooks/endpoint.ts'

const enabled = endpoint()
const disabled = endpoint({ disabledReason: 'manual' })
const { id } = enabled
const NOW_MS = 1_000

/** What the lifecycle did to deliveries and lanes, in order. */
let calls: string[]
/** The endpoint as the dispatcher knows it, and as it is stored. */
let known: Endpoint
/** The start of the failure of its lane, which is missing without one. */
let laneFailingSince: number | null
let stored: () => Promise<Endpoint>
/** Its deliveries that failed and are pending, and those that ended. */
let retried: StoredDelivery[]
let ended: StoredDelivery[]
let update: (id: string, change: (current: Endpoint) => Endpoint | null) => Promise<Endpoint | null>
beforeEach(() => {
  calls = []
  known = enabled
  laneFailingSince = null
  retried = []
  ended = []
  stored = async () => disabled
  update = async () => null
})

function createLifecycle() {
  const note = (call: string) => () => void calls.push(call)
  const count = (call: string) => async () => calls.push(call)
  return createEndpointLifecycle({
    endpoints: { byId: () => stored(), update: (...call) => update(...call) },
    deliveries: {
      hold: count('hold'),
      releaseHeld: count('release'),
      cancel: async () => {},
      limitInstants: async () => {},
      nextDueByEndpoint: async () => new Map(),
      heldEndpoints: async () => [id],
      failingSince: async (_id, sinceMs) => retried.filter((one) => failedSince(one, sinceMs)),
      save: async (deliveries) => [...deliveries],
      list: async ({ states }) => ended.filter(({ state }) => states?.includes(state)),
    },
    directory: { byId: () => known, all: () => [known].values() },
    lanes: {
      get: () =>
        laneFailingSince === null
          ? undefined
          : Object({ health: { failingSince: laneFailingSince } }),
      of: () => Object({}),
      update() {},
      stop: note('stop'),
      end: note('end'),
      restart: note('restart'),
      tick() {},
      size: () => 0,
    },
    health: {
      isStale: () => false,
      set: (_lane, { failingSince }) => void calls.push(`failing since ${failingSince}`),
    },
    clock: () => NOW_MS,
    dueClock: () => 0,
    longestDelayMs: 1_000,
    firstDelayMs: 0,
    notify: async () => true,
    persist: async (work) => void (await work()),
  })
}

const failedSince = ({ firstFailedAt }: StoredDelivery, sinceMs: number) =>
  firstFailedAt !== null && firstFailedAt >= sinceMs

/** The dispatcher reads that it was enabled. */
function enable(lifecycle: EndpointLifecycle): void {
  known = { ...enabled }
  stored = async () => known
  lifecycle.apply([known])
}

describe('an endpoint that is known as it was before it was disabled', () => {
  it('stays stopped, and sends what is held once it is enabled', async () => {
    const lifecycle = createLifecycle()
    await lifecycle.load()
    await lifecycle.settle()
    expect(calls).toEqual(['stop'])
    enable(lifecycle)
    await lifecycle.settle()
    expect(calls).toEqual(['stop', 'stop', 'release', 'restart'])
  })

  it('sends what is held when it is enabled while it is read', async () => {
    const read = Promise.withResolvers<Endpoint>()
    stored = () => read.promise
    const lifecycle = createLifecycle()
    await lifecycle.load()
    await setImmediate()
    enable(lifecycle)
    read.resolve(disabled)
    await lifecycle.settle()
    expect(calls).toEqual(['stop', 'release', 'restart'])
  })

  it('is started again when it is enabled while a 410 disables it', async () => {
    const read = Promise.withResolvers<Endpoint>()
    stored = () => read.promise
    const lifecycle = createLifecycle()
    lifecycle.disable(enabled, 'gone', NOW_MS)
    await setImmediate()
    enable(lifecycle)
    read.resolve(disabled)
    await lifecycle.settle()
    expect(calls).toEqual(['stop', 'stop', 'release', 'restart'])
  })
})

describe('an endpoint that a 410 disables', () => {
  // A success may have cleared the start of the failure, which recovers the notice after a crash.
  it.each([
    ['its 410', null, NOW_MS - 500],
    ['its 410 before a later failure', NOW_MS - 100, NOW_MS - 500],
    ['an earlier failure', NOW_MS - 900, NOW_MS - 900],
  ])('is stored as failing since %s', async (_what, laneSince, expected) => {
    laneFailingSince = laneSince
    let failingSince: number | null | undefined
    update = async (_id, change) => {
      const changed = change(known)
      failingSince ??= changed?.failingSince
      return changed
    }
    const lifecycle = createLifecycle()
    lifecycle.disable(enabled, 'gone', NOW_MS - 500)
    await lifecycle.settle()
    expect(failingSince).toBe(expected)
  })
})

describe('an endpoint without a success during the whole schedule', () => {
  const FAILED_AT = NOW_MS - 500
  const attemptAt = (at: number) => [attempt({ at })]
  const deliveryWith = (changes: DeliveryChanges) => ({ ...delivery(changes), revision: 1 })

  /** What disabling it does. */
  async function disable(): Promise<string[]> {
    laneFailingSince = FAILED_AT
    known = { ...enabled, failingSince: FAILED_AT }
    stored = async () => known
    update = async (_id, change) => {
      const changed = change(known)
      known = changed ?? known
      return changed
    }
    const lifecycle = createLifecycle()
    lifecycle.disable(known, 'failing', FAILED_AT)
    await lifecycle.settle()
    return calls
  }

  it('is disabled when a delivery that failed since then is retried', async () => {
    retried = [deliveryWith({ firstFailedAt: FAILED_AT, attempts: attemptAt(FAILED_AT) })]
    expect(await disable()).toEqual(['stop', 'hold'])
  })

  it('is disabled when a delivery is retried since then that failed before', async () => {
    retried = [deliveryWith({ firstFailedAt: FAILED_AT - 1, attempts: attemptAt(FAILED_AT) })]
    expect(await disable()).toEqual(['stop', 'hold'])
  })

  it('is disabled when a delivery expired since then', async () => {
    ended = [
      deliveryWith({ state: 'expired', attempts: attemptAt(FAILED_AT - 1) }),
      deliveryWith({ state: 'expired', attempts: attemptAt(FAILED_AT) }),
    ]
    expect(await disable()).toEqual(['stop', 'hold'])
  })

  // An order that is erased while its first delivery fails is the only sign of the failure.
  it('is healthy again when all deliveries that failed since then were canceled', async () => {
    retried = [deliveryWith({ firstFailedAt: FAILED_AT - 1 })]
    ended = [
      deliveryWith({ state: 'canceled', attempts: attemptAt(FAILED_AT) }),
      deliveryWith({ state: 'expired', attempts: attemptAt(FAILED_AT - 1) }),
      deliveryWith({ state: 'expired', attempts: [] }),
    ]
    expect(await disable()).toEqual(['stop', 'failing since null', 'restart'])
    expect(known.disabledReason).toBeNull()
  })

  const unread = deliveryWith({
    firstFailedAt: FAILED_AT,
    attempts: [
      attempt({ at: FAILED_AT - 1 }), // Before a resend.
      attempt({ at: FAILED_AT, status: null, error: 'not sent: the stored order is missing' }),
    ],
  })

  it('is healthy again when for the only delivery that is left no request was sent since then', async () => {
    retried = [unread]
    expect(await disable()).toEqual(['stop', 'failing since null', 'restart'])
  })

  it('is disabled when it has more deliveries without a request than it reads', async () => {
    retried = Array.from({ length: 100 }, () => unread)
    expect(await disable()).toEqual(['stop', 'hold'])
  })
})
