import { afterAll } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'
import type { ManagementStores } from '../../../src/management/management-stores.ts'
import { openServices } from '../../../src/services.ts'
import {
  type Backend,
  createBackend,
  onServices,
  opensearch,
} from '../../support/stores/backend.ts'

/** Empty stores under test. */
export interface ManagementStoresUnderTest extends ManagementStores {
  /** The same stores as another process sees them; closed together with these. */
  openAgain(): Promise<ManagementStores>
  close(): Promise<void>
}

/**
 * Every implementation of the ports of the management API; the same tests run over each, in the
 * tier of its backend.
 */
export const managementStores: [name: string, open: () => Promise<ManagementStoresUnderTest>][] = [
  onServices ? ['OpenSearch', () => open(openShared)] : ['SQLite', () => open(createBackend)],
]

/** The tests of a file share one set of indices, emptied for each, because creation is slow. */
let shared: Backend | undefined
afterAll(async () => shared?.remove())

async function openShared(): Promise<Backend> {
  if (shared !== undefined) {
    const all = { query: { match_all: {} } }
    await shared.refresh()
    await opensearch('POST', `${shared.env['INDEX_PREFIX']}*/_delete_by_query?refresh=true`, all)
  }
  shared ??= createBackend()
  return { ...shared, remove: async () => {} }
}

async function open(openBackend: () => Backend | Promise<Backend>) {
  const backend = await openBackend()
  const opened = [await openServices(parseConfig(backend.env))]
  const [services] = opened
  if (services === undefined) throw new Error('expected the opened services')
  return {
    ...services.managementStores,
    async openAgain() {
      const other = await openServices(parseConfig(backend.env))
      opened.push(other)
      return other.managementStores
    },
    async close() {
      for (const one of opened) await one.close()
      await backend.remove()
    },
  }
}
