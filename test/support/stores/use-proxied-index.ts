import { afterEach, beforeEach } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'
import type { OrderIndex } from '../../../src/indexing/writer/order-index.ts'
import { openServices, type Services } from '../../../src/services.ts'
import { firstNode } from './backend.ts'
import { type Behaviour, type ScriptedServer, startServer } from './scripted/scripted-server.ts'
import { useServices } from './use-services.ts'

/** Services of isolated stores that reach OpenSearch through a scripted server. */
export interface ProxiedIndex {
  readonly server: ScriptedServer
  readonly services: Services
  /** An index with the writer's lease. */
  readonly index: OrderIndex
  /** The settings of the stores, without the server. */
  readonly env: Record<string, string>
  /** The prefix of the name of every index. */
  readonly prefix: string
}

/**
 * Opens a {@link ProxiedIndex} before each test of the file and closes it after each.
 * `behaviourTo` receives the address of the first node.
 */
export function useProxiedIndex(behaviourTo: (url: string) => Behaviour): ProxiedIndex {
  const stores = useServices()
  let server: ScriptedServer
  let services: Services
  let index: OrderIndex
  beforeEach(async () => {
    server = await startServer([behaviourTo(firstNode())])
    services = await openServices(parseConfig({ ...stores.env, OPENSEARCH_URL: server.url }))
    index = await services.openIndex()
  })
  afterEach(async () => {
    await index.close()
    await services.close()
    await server.close()
  })
  return {
    get server() {
      return server
    },
    get services() {
      return services
    },
    get index() {
      return index
    },
    get env() {
      return stores.env
    },
    get prefix() {
      return stores.prefix
    },
  }
}
