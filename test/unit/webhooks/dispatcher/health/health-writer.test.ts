import { beforeEach, describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../../src/lib/errors/unavailable.ts'
import {
  createHealthWriter,
  type HealthWriter,
} from '../../../../../src/webhooks/dispatcher/health/health-writer.ts'
import { createLane, type Lane } from '../../../../../src/webhooks/dispatcher/lanes/lane.ts'
import type { Endpoint } from '../../../../../src/webhooks/endpoints/endpoint.ts'
import { HEALTHY } from '../../../../../src/webhooks/endpoints/endpoint-health.ts'
import type { EndpointStore } from '../../../../../src/webhooks/endpoints/endpoint-store.ts'
import { useServices } from '../../../../support/stores/use-services.ts'
import { endpoint } from '../../../../support/webhooks/endpoint.ts'

const test = useServices()

let endpoints: EndpointStore
let health: HealthWriter
beforeEach(() => {
  endpoints = test.services.webhooks.endpoints
  health = createHealthWriter(endpoints)
})

/** The lane of a stored endpoint. */
async function laneOf(changes: Partial<Endpoint> = {}): Promise<Lane> {
  const stored = endpoint(changes)
  await endpoints.insert(stored)
  return createLane(stored, { count: 0, limit: 100 }, 0)
}

const change = (lane: Lane, changes: Partial<Lane['health']>) =>
  health.set(lane, { ...lane.health, ...changes })
const stored = ({ endpointId }: Lane) => endpoints.byId(endpointId)

describe('the health of an endpoint', () => {
  it('is stored, the first failure included', async () => {
    const lane = await laneOf()
    change(lane, { failingSince: 10_000, isBreakerOpen: true })
    expect(health.isStale(lane)).toBe(true)
    await health.flush()
    expect(health.isStale(lane)).toBe(false)
    expect(await stored(lane)).toMatchObject({ failingSince: 10_000, isBreakerOpen: true })
  })

  it('is dropped when a command has cleared the failure that it continues', async () => {
    const lane = await laneOf({ failingSince: 10_000 })
    const cleared = await endpoints.update(lane.endpointId, (one) => ({ ...one, ...HEALTHY }))
    change(lane, { noticesSent: 1 })
    await health.flush()
    expect(await stored(lane)).toEqual(cleared)
    expect(lane.health).toMatchObject(HEALTHY)
    change(lane, { failingSince: 20_000 })
    await health.flush()
    expect(await stored(lane)).toMatchObject({ failingSince: 20_000, noticesSent: 0 })
  })

  it('is stored when it has failed again since a success', async () => {
    const lane = await laneOf({ failingSince: 10_000 })
    await endpoints.update(lane.endpointId, (one) => ({ ...one, ...HEALTHY }))
    change(lane, { ...HEALTHY, lastSuccessAt: 15_000 })
    change(lane, { failingSince: 20_000 })
    await health.flush()
    expect(await stored(lane)).toMatchObject({ failingSince: 20_000, lastSuccessAt: 15_000 })
  })

  it('is stored with its first failure when that changes during a write that fails', async () => {
    const lane = await laneOf()
    const { update } = endpoints
    health = createHealthWriter({
      async update(...call) {
        if (lane.health.isBreakerOpen) return update(...call)
        change(lane, { isBreakerOpen: true })
        throw new Unavailable('the store does not respond')
      },
    })
    change(lane, { failingSince: 10_000 })
    await expect(health.flush()).rejects.toThrow(Unavailable)
    await health.flush()
    expect(await stored(lane)).toMatchObject({ failingSince: 10_000, isBreakerOpen: true })
  })
})
