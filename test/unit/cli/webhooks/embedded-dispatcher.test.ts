import { renameSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { Registry } from 'prom-client'
import { expect, it, onTestFinished } from 'vitest'
import { startEmbeddedDispatcher } from '../../../../src/cli/webhooks/embedded-dispatcher.ts'
import { parseConfig } from '../../../../src/config/config.ts'
import { openServices, type Services } from '../../../../src/services.ts'
import { temporaryFolder } from '../../../support/stores/backend.ts'

/** Starts the dispatcher with a part of its stores replaced. */
async function start(replaced: Partial<Services['webhooks']> = {}) {
  const { folder, remove } = temporaryFolder()
  const config = parseConfig({ DATA_DIR: folder })
  const services = await openServices(config)
  const dispatcher = startEmbeddedDispatcher(config, {
    services: { ...services, webhooks: { ...services.webhooks, ...replaced } },
    logger: pino({ enabled: false }),
    registry: new Registry(),
    tracing: null,
  })
  onTestFinished(async () => {
    await dispatcher.stop()
    await services.close()
    remove()
  })
  return { dispatcher, folder }
}

it('a dispatcher that fails is a warning of the health response', async () => {
  const acquireLease = () => Promise.reject(new TypeError('a bug'))
  const { dispatcher } = await start({ acquireLease })
  expect(dispatcher.checks()).toEqual({ webhooks: 'ok' })
  await expect.poll(() => dispatcher.checks()).toEqual({ webhooks: 'degraded' })
})

it('a dispatcher whose database is moved away is a warning until it is back', async () => {
  const { dispatcher, folder } = await start()
  const file = join(folder, 'webhooks.db')
  renameSync(file, `${file}.away`)
  await expect
    .poll(() => dispatcher.checks(), { timeout: 10_000 })
    .toEqual({ webhooks: 'degraded' })
  renameSync(`${file}.away`, file)
  await expect.poll(() => dispatcher.checks(), { timeout: 10_000 }).toEqual({ webhooks: 'ok' })
})
