import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { WriteMode } from '../../../../src/indexing/writer/order-index.ts'
import { createWriter } from '../../../../src/indexing/writer/writer.ts'
import { runCommand } from '../../../support/cli/command.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { readOrder } from '../../../support/orders/read-order.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { firstNode, opensearch } from '../../../support/stores/backend.ts'
import { interceptCommits } from '../../../support/stores/bulk.ts'
import { proxyTo, type ReceivedRequest } from '../../../support/stores/scripted/scripted-server.ts'
import { useProxiedIndex } from '../../../support/stores/use-proxied-index.ts'

const test = useProxiedIndex(proxyTo)

interface Given {
  amount_total?: number
  deleted?: true
}
/** Writes one version of `ord_1`, whose amount identifies the version. */
async function write(version: number, { deleted, ...given }: Given = {}, mode: WriteMode = 'live') {
  const source = deleted
    ? { id: 'ord_1', version, owner_account_id: 'acc_1', deleted }
    : sourceOrder({ version, amount_total: version, ...given })
  const [result] = await createWriter(test.index, Date.now).write([changeOf(source)], mode)
  return result
}

async function amount(): Promise<number | undefined> {
  return (await readOrder(test.services.orders, 'ord_1'))?.amount_total
}

/** The last bulk to the orders or to the version records. */
function lastBulk(target: 'orders' | 'order-heads'): ReceivedRequest {
  const bulk = test.server.received.findLast(({ path }) =>
    path.startsWith(`/${test.prefix}${target}-w-`),
  )
  if (bulk === undefined) throw new Error('no bulk was sent')
  return bulk
}

/** Sends an earlier bulk again, like a node that was frozen while the aliases were swapped. */
async function sendLate(target: 'orders' | 'order-heads', { body }: ReceivedRequest) {
  const response = await fetch(`${firstNode()}/${test.prefix}${target}/_bulk`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body,
  })
  const { items } = (await response.json()) as { items: Record<string, { status: number }>[] }
  return items.flatMap((item) => Object.values(item).map(({ status }) => status))
}

const orders = () => `${test.prefix}orders-v1`

/** Simulates a node restart or a shard relocation. */
async function restartShard() {
  await opensearch('POST', `${orders()}/_close`)
  await opensearch('POST', `${orders()}/_open`)
  await opensearch('GET', `_cluster/health/${orders()}?wait_for_status=yellow&timeout=60s`)
}

/** Simulates the passing of `index.gc_deletes`, a minute by default. */
async function forgetDeletions() {
  await opensearch('PUT', `${orders()}/_settings`, { index: { gc_deletes: '0ms' } })
  await opensearch('POST', `${orders()}/_flush?force=true`)
  await opensearch('POST', `${orders()}/_refresh`)
}

describe('a bulk that arrives late', () => {
  it.each([
    ['created the document', 1],
    ['replaced the document', 2],
  ])('a late bulk that once %s does not change a newer document', async (_what, last) => {
    for (let version = 1; version <= last; version++) await write(version)
    const late = lastBulk('orders')
    await write(3)
    expect(await sendLate('orders', late)).toEqual([409])
    expect(await amount()).toBe(3)
  })

  it.each([
    ['created the document', 1],
    ['replaced the document', 2],
  ])('a late bulk that once %s does not restore a removed document', async (_what, last) => {
    for (let version = 1; version <= last; version++) await write(version)
    const late = lastBulk('orders')
    await write(3, { deleted: true })
    expect(await sendLate('orders', late)).toEqual([409])
    expect(await amount()).toBeUndefined()
  })

  it.each([
    ['a restart of the shard', restartShard],
    ['the engine dropped its record of deletions', forgetDeletions],
  ])(
    'a late bulk does not restore a document that was removed before %s',
    async (_what, disrupt) => {
      await write(1)
      const late = lastBulk('orders')
      await write(2, { deleted: true })
      await disrupt()
      expect(await sendLate('orders', late)).toEqual([409])
      expect(await amount()).toBeUndefined()
    },
  )

  it('the second late bulk of a change does not restore a document that was removed since', async () => {
    await write(1)
    const { body, ...request } = lastBulk('orders')
    const [, version = ''] = /"version":(\d+)/.exec(body) ?? []
    // As the next attempt of the same change would be.
    const second = { ...request, body: body.replaceAll(version, `${Number(version) + 5}`) }
    await pause(10)
    await write(2, { deleted: true })
    expect(await sendLate('orders', second)).toEqual([409])
    expect(await amount()).toBeUndefined()
  })

  it('a late removal does not remove a document written since', async () => {
    await write(1)
    await write(2, { deleted: true })
    const late = lastBulk('orders')
    await write(3)
    expect(await sendLate('orders', late)).toEqual([409])
    expect(await amount()).toBe(3)
  })

  it.each([1, 2])(
    'a late bulk with version record %d does not change a newer one',
    async (last) => {
      for (let version = 1; version <= last; version++) await write(version)
      const late = lastBulk('order-heads')
      await write(3)
      expect(await sendLate('order-heads', late)).toEqual([409])
      expect(await write(2)).toBe('older')
    },
  )
})

describe('a writer', () => {
  it('the writer restores a deleted order', async () => {
    await write(1)
    expect(await write(2, { deleted: true })).toBe('written')
    expect(await amount()).toBeUndefined()
    expect(await write(3)).toBe('written')
    expect(await amount()).toBe(3)
  })

  it('the writer replaces a document that a late bulk changed since it was read', async () => {
    await write(1)
    const change = changeOf(sourceOrder({ version: 2, amount_total: 2 }))
    const interfered = interceptCommits(test.index, async (writes) => {
      const touched = `${test.prefix}orders/_update/acc_1:ord_1?routing=acc_1`
      await opensearch('POST', touched, { doc: { updated_key: 1 } })
      return writes
    })
    expect(await createWriter(interfered, Date.now).write([change], 'live')).toEqual(['written'])
    expect(await amount()).toBe(2)
  })

  it('the writer stores a tracking key that was cut in the middle of a character', async () => {
    const cut = sourceOrder({ tracking: { 'src\ud83d': 'bio' } })
    expect(await createWriter(test.index, Date.now).write([changeOf(cut)], 'live')).toEqual([
      'written',
    ])
    const order = await readOrder(test.services.orders, 'ord_1')
    expect(order?.tracking).toEqual({ 'src\ufffd': 'bio' })
  })

  it('a closed writer leaves every document searchable at once', async () => {
    await test.index.close()
    const lines = [1, 2, 3].map((n) => JSON.stringify(sourceOrder({ id: `ord_${n}` }))).join('\n')
    expect(await runCommand(['index', 'load', '-'], test.env, lines)).toMatchObject({ code: 0 })
    const { hits } = await opensearch<{ hits: { hits: unknown[] } }>(
      'GET',
      `${test.prefix}orders/_search`,
    )
    expect(hits.hits).toHaveLength(3)
  })
})
