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

type OpenStores = () => Promise<ManagementStoresUnderTest>

/**
 * Every implementation of the ports of the management API; the same tests run over each, in the
 * tier of its backend. Registers a hook that removes the stores after the tests of the file.
 */
export function useManagementStores(): [name: string, open: OpenStores][] {
  return [onServices ? ['OpenSearch', useOpenSearch()] : ['SQLite', () => open(createBackend())]]
}

/** The tests of a file share one set of indices, emptied for each, because creation is slow. */
function useOpenSearch(): OpenStores {
  let shared: Backend | undefined
  afterAll(() => shared?.remove())
  return async () => {
    if (shared !== undefined) await empty(shared)
    shared ??= createBackend()
    return await open({ ...shared, remove: async () => {} })
  }
}

async function empty({ env, refresh }: Backend): Promise<void> {
  const all = { query: { match_all: {} } }
  await refresh()
  await opensearch('POST', `${env['INDEX_PREFIX']}*/_delete_by_query?refresh=true`, all)
}

async function open(backend: Backend): Promise<ManagementStoresUnderTest> {
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
