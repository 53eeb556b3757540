import { parseConfig } from '../../../../src/config/config.ts'
import type { OrderIndex } from '../../../../src/indexing/writer/order-index.ts'
import type { Clock } from '../../../../src/lib/clock.ts'
import { openServices } from '../../../../src/services.ts'
import type { Stores } from '../../../../src/stores/stores.ts'
import { createBackend, onServices } from '../../stores/backend.ts'
import { type FreezableIndex, openFreezableIndex } from './writing/freezable-writer.ts'

/** The stores of a walk, which leaves its orders in them. */
export interface WalkStores extends Pick<Stores, 'orders' | 'webhooks'> {
  /** Opens the write side, in a process of its own where processes can freeze. */
  openIndex(clock: Clock): Promise<OrderIndex | FreezableIndex>
  /** Whether a bulk is written as a whole or not at all. */
  isAtomic: boolean
  /** Makes all writes visible to searches. */
  refresh(): Promise<void>
  close(): Promise<void>
}

/** Opens empty stores on the backend of the tier. */
export async function openWalkStores(): Promise<WalkStores> {
  const backend = createBackend()
  const config = parseConfig(backend.env)
  const stores = await openServices(config)
  await stores.initialize()
  return {
    orders: stores.orders,
    webhooks: stores.webhooks,
    openIndex: (clock) =>
      onServices ? openFreezableIndex(config, clock) : stores.openIndex({ clock }),
    isAtomic: !onServices,
    refresh: backend.refresh,
    async close() {
      await stores.close()
      await backend.remove()
    },
  }
}
