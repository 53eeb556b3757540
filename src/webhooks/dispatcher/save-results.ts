import type { DeliveryStore, StoredDelivery } from '../deliveries/delivery.ts'
import type { EndpointLifecycle } from './health/endpoint-lifecycle.ts'

export interface SaveResultsOptions {
  deliveries: Pick<DeliveryStore, 'save' | 'byId'>
  lifecycle: Pick<EndpointLifecycle, 'applyStored'>
}

/**
 * Creates a function that stores results of attempts. A delivery that changed meanwhile stays as it
 * is, except that a held one becomes delivered by a 2xx. Returns each as it is stored then, `null`
 * for one that was removed. Throws Unavailable; a repetition returns the same.
 */
export function createSaveResults({
  deliveries,
  lifecycle,
}: SaveResultsOptions): DeliveryStore['save'] {
  async function saveChanged(result: StoredDelivery): Promise<StoredDelivery | null> {
    for (;;) {
      const current = await deliveries.byId(result.id)
      if (current?.state !== 'held') return current
      // First, because the next event of the order may be sent once this result is returned.
      await lifecycle.applyStored(current.endpointId)
      if (result.state !== 'delivered') return current
      const delivered = { ...current, ...deliveredBy(result) }
      const [saved] = await deliveries.save([delivered])
      if (saved) return saved
    }
  }

  return async (results) => {
    const saved = await deliveries.save(results)
    const current: (StoredDelivery | null)[] = []
    for (const [index, result] of results.entries()) {
      current.push(saved[index] ?? (await saveChanged(result)))
    }
    return current
  }
}

const deliveredBy = ({ attempts }: StoredDelivery) =>
  ({ state: 'delivered', nextAt: null, heldAt: null, attempts }) as const
