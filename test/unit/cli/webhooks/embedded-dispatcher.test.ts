import pino from 'pino'
import { Registry } from 'prom-client'
import { expect, it, onTestFinished } from 'vitest'
import { startEmbeddedDispatcher } from '../../../../src/cli/webhooks/embedded-dispatcher.ts'
import { parseConfig } from '../../../../src/config/config.ts'
import { openServices } from '../../../../src/services.ts'
import { temporaryFolder } from '../../../support/stores/backend.ts'

it('a dispatcher that fails is a warning of the health response, until a stop', async () => {
  const { folder, remove } = temporaryFolder()
  const config = parseConfig({ DATA_DIR: folder })
  const services = await openServices(config)
  onTestFinished(async () => {
    await services.close()
    remove()
  })
  const acquireLease = () => Promise.reject(new TypeError('a bug'))
  const dispatcher = startEmbeddedDispatcher(config, {
    services: { ...services, webhooks: { ...services.webhooks, acquireLease } },
    logger: pino({ enabled: false }),
    registry: new Registry(),
    tracing: null,
  })
  expect(dispatcher.checks()).toEqual({ webhooks: 'ok' })
  await expect.poll(() => dispatcher.checks()).toEqual({ webhooks: 'degraded' })
  await dispatcher.stop()
})
