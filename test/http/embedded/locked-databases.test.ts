import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { useManagementApi } from '../../support/management/management-api.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'

const test = useManagementApi()
const unavailable = { status: 503, json: { error: { code: 'service_unavailable' } } }

/** Runs `work` while another process writes to a database. */
async function whileLocked<T>(file: string, work: () => Promise<T>): Promise<T> {
  const db = new DatabaseSync(join(test.api.config.dataDir, file))
  db.exec('BEGIN IMMEDIATE')
  try {
    return await work()
  } finally {
    db.close()
  }
}

describe('while another process holds the write lock', () => {
  it.each([
    ['a key is not created', 'POST', '/accounts/acc_1/keys'],
    ['an account is not blocked', 'PUT', '/accounts/acc_1/block'],
  ] as const)('of the keys, %s, and the response is a 503', async (_what, method, path) => {
    const response = await whileLocked('keys.db', () => test.api.call(method, path))
    expect(response).toMatchObject(unavailable)
    expect(await test.api.call(method, path)).not.toMatchObject(unavailable)
  })

  it('of the orders, a pushed order gets a 503, and no other request waits', async () => {
    const push = () => test.api.post('/source-orders', [sourceOrder()], { headers: JSON_BODY })
    // A wait of 30 seconds, as that of a command, would block the process beyond the test's
    // timeout.
    expect(await whileLocked('orders.db', push)).toMatchObject(unavailable)
    expect(await push()).toMatchObject({ status: 200, json: { refused: 0 } })
  })
})

const JSON_BODY = { 'content-type': 'application/json' }
