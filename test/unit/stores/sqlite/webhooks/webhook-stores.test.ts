import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../../src/lib/errors/unavailable.ts'
import { IndexLost } from '../../../../../src/stores/index-lost.ts'
import { openSqliteStores } from '../../../../../src/stores/sqlite/stores.ts'
import { openSqliteWebhookStores } from '../../../../../src/stores/sqlite/webhooks/webhook-stores.ts'
import { FULL, synchronousOf } from '../../../../support/stores/synchronous.ts'
import { createTestFolder } from '../../../../support/stores/test-folder.ts'
import { delivery } from '../../../../support/webhooks/delivery.ts'
import { endpoint } from '../../../../support/webhooks/endpoint.ts'

/** `PRAGMA synchronous` of a connection that syncs at checkpoints only. */
const NORMAL = 1

let dataDir: string
let stores: ReturnType<typeof openSqliteWebhookStores>
beforeEach(() => {
  dataDir = createTestFolder()
  stores = openSqliteWebhookStores({ dataDir }, 'server')
})
afterEach(async () => {
  await stores.close()
})

const file = (name: string) => join(dataDir, name)

describe('webhooks.db', () => {
  it('is unavailable to the server while another process writes, and usable afterwards', async () => {
    using other = new DatabaseSync(file('webhooks.db'))
    other.exec('BEGIN IMMEDIATE')
    await expect(stores.deliveries.create([delivery()])).rejects.toBeInstanceOf(Unavailable)
    await expect(stores.endpoints.insert(endpoint())).rejects.toBeInstanceOf(Unavailable)
    expect(await stores.deliveries.byId(delivery().id)).toBeNull()
    other.exec('ROLLBACK')
    await stores.deliveries.create([delivery()])
    expect(await stores.deliveries.byId(delivery().id)).not.toBeNull()
  })

  it('is unavailable once it was removed', async () => {
    rmSync(file('webhooks.db'))
    const calls = [
      () => stores.deliveries.create([delivery()]),
      () => stores.deliveries.due({ ...ALL_DUE }),
      () => stores.endpoints.changes(null),
      () => stores.endpoints.update('we_1', (same) => same),
      () => stores.deliveries.backlog(0),
      () => stores.deliveries.hold('we_1', 0),
    ]
    for (const call of calls) await expect(call()).rejects.toBeInstanceOf(Unavailable)
  })

  it('is unreadable for other users of the machine, and so is the lock', async () => {
    const lease = await stores.acquireLease({ onDelay() {}, signal: new AbortController().signal })
    for (const name of ['webhooks.db', 'webhooks.lock'])
      expect((statSync(file(name)).mode & 0o777).toString(8)).toBe('600')
    await lease.release()
  })

  it('stores nothing of a call that fails', async () => {
    const invalid = delivery({ id: 'b', nextAt: 0.5 })
    await expect(stores.deliveries.create([delivery({ id: 'a' }), invalid])).rejects.toThrow('REAL')
    expect(await stores.deliveries.byId('a')).toBeNull()
    await stores.deliveries.create([delivery({ id: 'a' })])
  })

  it('keeps deliveries and endpoints for the next process', async () => {
    await stores.deliveries.create([delivery()])
    await stores.endpoints.insert(endpoint())
    await stores.close()
    stores = openSqliteWebhookStores({ dataDir }, 'server')
    expect(await stores.deliveries.byId(delivery().id)).toMatchObject(delivery())
    expect(await stores.endpoints.byId(endpoint().id)).toEqual(endpoint())
  })
})

const ALL_DUE = {
  endpointId: 'we_1',
  nowMs: 99_000,
  limit: 10,
  excludedOrders: [],
  excludedIds: [],
}

describe('the stores of webhooks', () => {
  it.each([
    ['server', [FULL, NORMAL]],
    ['command', [FULL, FULL]],
  ] as const)(
    'of a %s sync every endpoint, and what can be repeated as its role requires',
    async (role, expected) => {
      const opening: ReturnType<typeof openSqliteWebhookStores>[] = []
      const synchronous = await synchronousOf(async () => {
        opening.push(openSqliteWebhookStores({ dataDir }, role))
      })
      for (const opened of opening) await opened.close()
      expect(synchronous).toEqual({ 'webhooks.db': expected, 'orders.db': expected.slice(1) })
    },
  )

  it('are not opened where the orders are lost', async () => {
    const folder = createTestFolder()
    await openSqliteStores({ dataDir: folder }, 'command').close()
    rmSync(join(folder, 'orders.db'))
    expect(() => openSqliteWebhookStores({ dataDir: folder }, 'server')).toThrow(IndexLost)
  })
})
