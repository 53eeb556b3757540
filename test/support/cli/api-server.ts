import type { FastifyInstance } from 'fastify'
import { openApiServer } from '../../../src/cli/api-server.ts'
import { assertIndexNotLost } from '../../../src/cli/index-loss-check.ts'
import { parseConfig } from '../../../src/config/config.ts'
import { buildOperationsApp } from '../../../src/http/operations/operations-app.ts'
import { listen, serverUrl } from '../../../src/http/server/listen.ts'
import { silent } from '../stores/services.ts'

/** The API in this process, on a free port. */
export interface ApiServer {
  baseUrl: string
  /** Its operations port, which does not listen. */
  operations: FastifyInstance
  /** Cuts every connection and closes. */
  close(): Promise<void>
}

/** Serves the stores that `env` names, for tests that need an API and prove nothing of the command `serve`. */
export async function startApiServer(env: Readonly<Record<string, string>>): Promise<ApiServer> {
  const config = parseConfig({ PORT: '0', ...env })
  const { app, services, metrics, isReady, close } = await openApiServer(config, silent)
  const operations = buildOperationsApp(isReady, metrics)
  await assertIndexNotLost(services)
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
