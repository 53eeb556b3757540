import type { FastifyInstance } from 'fastify'
import { openApiServer } from '../../../src/cli/serve/api-server.ts'
import { assertUsable } from '../../../src/cli/with-services.ts'
import { parseConfig } from '../../../src/config/config.ts'
import { buildOperationsApp } from '../../../src/http/operations/operations-app.ts'
import { listen, serverUrl } from '../../../src/http/server/listen.ts'
import { silent } from '../stores/services.ts'

/** The API in this process, on a free port. */
export interface ApiServer {
  baseUrl: string
  /** The operations port of the service, which does not listen here. */
  operations: FastifyInstance
  /** Closes every connection and the server. */
  close(): Promise<void>
}

/**
 * Starts the API on the stores that `env` names, for tests that need an API but do not test
 * `serve`.
 */
export async function startApiServer(env: Readonly<Record<string, string>>): Promise<ApiServer> {
  const config = parseConfig({ PORT: '0', ...env })
  const { app, services, metrics, isReady, close } = await openApiServer(config, silent)
  const operations = buildOperationsApp(isReady, metrics)
  await assertUsable(services)
  await listen(app, config.host, config.port, 'PORT')
  let closed: Promise<void> | undefined

  async function cut(): Promise<void> {
    app.server.closeAllConnections()
    await close()
    await operations.close()
  }

  return {
    baseUrl: serverUrl(app),
    operations,
    close: () => (closed ??= cut()),
  }
}
