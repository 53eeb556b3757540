import type { StoredDelivery } from '../deliveries/delivery.ts'
import type { DeliveryStore } from '../deliveries/delivery-store.ts'
import type { EndpointLifecycle } from './health/endpoint-lifecycle.ts'

export interface SaveResultsOptions {
  deliveries: Pick<DeliveryStore, 'save' | 'byIds'>
  lifecycle: Pick<EndpointLifecycle, 'applyStored'>
}

type SaveResults = DeliveryStore['save']

/**
 * Creates a function that stores results of attempts. A delivery that changed meanwhile stays as it
 * is, except that a held one becomes delivered by a 2xx. Returns each as it is stored then, `null`
 * for one that was removed or is damaged.
 * @throws Unavailable; a repetition returns the same
 */
export function createSaveResults({ deliveries, lifecycle }: SaveResultsOptions): SaveResults {
  /** Changed deliveries are read and saved together, because all other results wait. */
  const saveChanged: SaveResults = async (results) => {
    const current = await deliveries.byIds(results.map(({ id }) => id))
    const held = current.filter((delivery) => delivery?.state === 'held')
    // First, because the next event of the order may be sent once this result is returned.
    const endpointIds = new Set(held.flatMap((delivery) => delivery?.endpointId ?? []))
    await Promise.all([...endpointIds].map((id) => lifecycle.applyStored(id)))
    const changes = results.map((result, at) => deliveredBy(result, current[at] ?? null))
    const saved = (await saveResults(changes.filter((change) => change !== null))).values()
    return current.map((delivery, at) => (changes[at] ? (saved.next().value ?? null) : delivery))
  }

  const saveResults: SaveResults = async (results) => {
    const saved = await deliveries.save(results)
    const changed = results.filter((_, at) => saved[at] === null)
    if (changed.length === 0) return saved
    const current = (await saveChanged(changed)).values()
    return saved.map((delivery) => delivery ?? current.next().value ?? null)
  }

  return saveResults
}

/** The held delivery as a 2xx changes it; `null` for another state or result. */
function deliveredBy(
  { state, attempts }: StoredDelivery,
  current: StoredDelivery | null,
): StoredDelivery | null {
  if (current?.state !== 'held' || state !== 'delivered') return null
  return { ...current, state, nextAt: null, heldAt: null, attempts }
}
