import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseConfig } from '../../../../src/config/config.ts'
import { openServices, type Services } from '../../../../src/services.ts'
import { runCommand } from '../../../support/cli/command.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { type Backend, createBackend, opensearch } from '../../../support/stores/backend.ts'

let backend: Backend
let services: Services
beforeEach(async () => {
  backend = createBackend()
  services = await openServices(parseConfig(backend.env))
})
afterEach(async () => {
  await services.close()
  await backend.remove()
})

const indices = () =>
  opensearch<object[]>('GET', `_cat/indices/${backend.env['INDEX_PREFIX']}*?format=json`)

const removeIndices = () => opensearch('DELETE', `${backend.env['INDEX_PREFIX']}*`)

/** An index auto-created by a write lacks the mapping, so key lookups would find nothing. */
describe('a cluster without indices', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['recording the use of a key', () => services.keys.update('d1', { lastValidAt: 1 })],
    ['looking up a key', () => services.keys.find('d1')],
    ['reading an order', () => services.orders.get('acc_1', 'ord_1')],
  ])('%s does not create a missing index', async (_what, work) => {
    await services.initialize()
    await removeIndices()
    await expect(work()).rejects.toThrow()
    expect(await indices()).toEqual([])
  })

  it.each([1, 2])(
    'names "index init" in the error of each of %i lookups of keys at once',
    async (count) => {
      const digests = Array.from({ length: count }, (_, at) => `d${at}`)
      const lookups = await Promise.allSettled(digests.map((digest) => services.keys.find(digest)))
      const reason = expect.objectContaining({ message: expect.stringContaining('"index init"') })
      expect(lookups).toEqual(digests.map(() => ({ status: 'rejected', reason })))
    },
  )

  it('renewing a lease does not create a missing index', async () => {
    await services.initialize()
    const index = await services.openIndex()
    await removeIndices()
    await index.close() // Writes the lease document.
    expect(await indices()).toEqual([])
  })
})

it('the lease whose alias was lost is named with the next step, and is not reported as ready', async () => {
  await services.initialize()
  const index = `${backend.env['INDEX_PREFIX']}writer-v1`
  const alias = `${backend.env['INDEX_PREFIX']}writer`
  await opensearch('DELETE', `${index}/_alias/${alias}`)
  const { code, stderr } = await runCommand(['index', 'init'], backend.env)
  expect(code).toBe(1)
  expect(stderr).toBe(`${index} exists without its alias ${alias}: add it with POST _aliases\n`)
  await opensearch('PUT', `${index}/_alias/${alias}`)
  expect(await runCommand(['index', 'init'], backend.env)).toMatchObject({ code: 0 })
})

it.each<[string, () => Promise<unknown>]>([
  ['webhook-endpoints', () => services.webhooks.endpoints.list('acc_1')],
  ['audit-log', () => services.managementStores.audit.setOutcome('ae_1', 'done')],
])('creates a removed index %s as its error says, for a running process', async (name, work) => {
  await services.initialize()
  await services.initializeOthers()
  await opensearch('DELETE', `${backend.env['INDEX_PREFIX']}${name}-v1`)
  await expect(work()).rejects.toThrow('run "index init", which creates it')
  expect(await runCommand(['index', 'init'], backend.env)).toMatchObject({ code: 0 })
  await work()
})

it.each<[string, (index: string, alias: string) => Promise<unknown>]>([
  ['an empty index', (index) => opensearch('PUT', index)],
  [
    // A restore under another name brings the write alias of the snapshot.
    'a restored index',
    (index, alias) => opensearch('PUT', index, { aliases: { [`${alias}-w-0-v1`]: {} } }),
  ],
])('a writer keeps all orders while the read alias was moved to %s by hand', async (_, create) => {
  const { code } = await runCommand(
    ['index', 'load', '--live', '-'],
    backend.env,
    `${JSON.stringify(sourceOrder())}\n`,
  )
  expect(code).toBe(0)
  const prefix = `${backend.env['INDEX_PREFIX']}`
  const alias = `${prefix}orders`
  const moveAlias = (from: string, to: string) =>
    opensearch('POST', '_aliases', {
      actions: [{ remove: { index: from, alias } }, { add: { index: to, alias } }],
    })
  await create(`${alias}-v9`, alias)
  await moveAlias(`${alias}-v1`, `${alias}-v9`)
  await expect(services.openIndex()).rejects.toThrow(
    `the last writer did not write: move it to ${alias}-v1`,
  )
  await moveAlias(`${alias}-v9`, `${alias}-v1`)
  const index = await services.openIndex()
  await index.close()
  expect(await services.orders.get('acc_1', 'ord_1')).not.toBeNull()
})

it('a read of a closed index names it and the next step', async () => {
  expect(await runCommand(['index', 'init'], backend.env)).toMatchObject({ code: 0 })
  const index = `${backend.env['INDEX_PREFIX']}orders-v1`
  await opensearch('POST', `${index}/_close`)
  const error = `the index ${index} is closed: open it with POST ${index}/_open`
  await expect(services.orders.latestWrite('acc_1')).rejects.toThrow(error)
  const keys = [{ accountId: 'acc_1', orderId: 'ord_1' }]
  await expect(services.orders.getMany(keys)).rejects.toThrow(error)
  await expect(services.inspection.documents(keys)).rejects.toThrow(error)
})
