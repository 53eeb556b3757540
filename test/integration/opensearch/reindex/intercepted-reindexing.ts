import { afterEach, beforeEach } from 'vitest'
import { parseConfig } from '../../../../src/config/config.ts'
import type { Reindexing } from '../../../../src/indexing/reindexing.ts'
import { openServices, type Services } from '../../../../src/services.ts'
import { firstNode } from '../../../support/stores/backend.ts'
import {
  loseResponseOf,
  proxyTo,
  type ReceivedRequest,
  type ScriptedServer,
  startServer,
} from '../../../support/stores/scripted/scripted-server.ts'
import type { EachTestServices } from '../../../support/stores/use-services.ts'

/** Reindex commands whose requests pass a proxy. */
export interface InterceptedReindexing {
  readonly reindexing: Reindexing | null
  /** Runs `work` before each further request of this test reaches OpenSearch. */
  intercept(work: (request: ReceivedRequest) => Promise<void>): void
  /** OpenSearch executes the next bulk to this alias, and its response is lost. */
  loseResponse(alias: string): void
}

/** Registers the hooks of {@link InterceptedReindexing}, on the stores of `test`. */
export function useInterceptedReindexing(test: EachTestServices): InterceptedReindexing {
  let work: (request: ReceivedRequest) => Promise<void>
  let lost: string | null
  let node: ScriptedServer
  let services: Services
  beforeEach(async () => {
    work = async () => {}
    lost = null
    node = await startServer([
      async (response, request) => {
        await work(request)
        const isLost = lost !== null && request.path.includes(`${lost}/_bulk`)
        if (isLost) lost = null
        await (isLost ? loseResponseOf : proxyTo)(firstNode())(response, request)
      },
    ])
    services = await openServices(parseConfig({ ...test.env, OPENSEARCH_URL: node.url }))
  })
  afterEach(async () => {
    await services.close()
    await node.close()
  })
  return {
    get reindexing() {
      return services.reindexing
    },
    intercept(next) {
      work = next
    },
    loseResponse(alias) {
      lost = alias
    },
  }
}
