import type { Config } from '../../../../../src/config/config.ts'
import type { OrderIndex } from '../../../../../src/indexing/writer/order-index.ts'
import { LeaseLostError } from '../../../../../src/indexing/writer/writer-errors.ts'
import type { Clock } from '../../../../../src/lib/clock.ts'
import { Unavailable } from '../../../../../src/lib/errors/unavailable.ts'
import { openOpenSearchStores } from '../../../../../src/stores/opensearch/stores.ts'
import { startFaultyProxy } from '../../../../harness/faulty-proxy/faulty-proxy.ts'

/** The write side of a process that can freeze. */
export interface FreezableIndex extends OrderIndex {
  /** Stops everything it sends and receives. Another process takes over when its lease expires. */
  freeze(): void
  /** Continues after a freeze, and ends. */
  thaw(): Promise<void>
}

/** Opens the write side on OpenSearch, behind a network of its own. `clock`: epoch milliseconds. */
export async function openFreezableIndex(config: Config, clock: Clock): Promise<FreezableIndex> {
  const [url = ''] = config.opensearchUrls ?? []
  const network = await startFaultyProxy(Number(new URL(url).port))
  const stores = openOpenSearchStores({ urls: [`http://127.0.0.1:${network.port}`] }, config)
  const index = await stores.openIndex({ clock })

  async function close(): Promise<void> {
    try {
      await index.close()
    } finally {
      await stores.close()
      await network.close()
    }
  }

  return {
    ...index,
    close,
    freeze: network.freeze,
    async thaw() {
      network.unfreeze()
      try {
        await close()
      } catch (error) {
        // The successor took over.
        if (!(error instanceof LeaseLostError || error instanceof Unavailable)) throw error
      }
    },
  }
}
