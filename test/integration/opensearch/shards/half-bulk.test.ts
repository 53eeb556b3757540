import { afterEach, beforeEach, expect, it } from 'vitest'
import { parseConfig } from '../../../../src/config/config.ts'
import { createWriter } from '../../../../src/indexing/writer/writer.ts'
import { openServices, type Services } from '../../../../src/services.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { EXPIRING_LEASE, firstNode, opensearch } from '../../../support/stores/backend.ts'
import {
  proxyTo,
  reset,
  type ScriptedServer,
  startServer,
} from '../../../support/stores/scripted/scripted-server.ts'
import { useServices } from '../../../support/stores/use-services.ts'
import { shardOf, storedDocuments } from './stored-shards.ts'

const test = useServices({ ORDERS_SHARDS: '3' })

/** Which write is cut: the name of its alias without prefix and epoch. */
let cut: string | undefined
/** Accounts whose items reach their shard. */
let reached: ReadonlySet<string>
/** The write timestamp of the bulk that was cut. */
let cutTimestamp: number
let node: ScriptedServer
let services: Services
beforeEach(async () => {
  cut = undefined
  const url = firstNode()
  node = await startServer([
    async (response, request) => {
      const target = request.path.slice(test.prefix.length + 1)
      if (cut === undefined || !new RegExp(cut).test(target)) {
        await proxyTo(url)(response, request)
        return
      }
      const body = partOf(request.body)
      const headers = { 'content-type': 'application/x-ndjson' }
      const part = await fetch(new URL(request.path, url), { method: 'POST', headers, body })
      const { items } = (await part.json()) as { items: unknown[] }
      expect(items.length).toBeGreaterThan(0)
      cutTimestamp = JSON.parse(body.split('\n')[1] ?? '').written_key
      cut = undefined
      reset(response, request) // The writer never learns what was written.
    },
  ])
  const settings = { ...test.env, ...EXPIRING_LEASE, OPENSEARCH_URL: node.url }
  services = await openServices(parseConfig(settings))
})
afterEach(async () => {
  await services.close()
  await node.close()
})

/** The items of a bulk that go to the shard of `reached`. */
function partOf(body: string): string {
  const lines = body.trimEnd().split('\n')
  const isReached = (action: string) =>
    reached.has(Object(Object.values(JSON.parse(action))[0]).routing)
  return lines
    .map((line, at) => (isReached(lines[at - (at % 2)] ?? '') ? `${line}\n` : ''))
    .join('')
}

const accounts = Array.from({ length: 24 }, (_, n) => `acc_${n}`)
const versions = (version: number) =>
  accounts.map((account, n) =>
    sourceOrder({ id: `ord_${n}`, owner_account_id: account, version, amount_total: version }),
  )

/** Lets the items of the first shard through. */
async function reachFirstShard(index: string): Promise<void> {
  const shards = await Promise.all(accounts.map((account) => shardOf(test, index, account)))
  reached = new Set(accounts.filter((_, at) => shards[at] === 0))
  expect(reached.size).toBeGreaterThan(0)
  expect(reached.size).toBeLessThan(accounts.length)
}

async function amounts(): Promise<Set<unknown>> {
  const found = await Promise.all(
    accounts.map((account, n) => test.services.orders.get(account, `ord_${n}`)),
  )
  return new Set(found.map((json) => json && JSON.parse(`${Buffer.from(json)}`).amount_total))
}

/** The write timestamps of the live documents. */
async function timestamps(index: string): Promise<Map<string, number>> {
  await test.refresh()
  const documents = await storedDocuments(test, index)
  return new Map(
    [...documents].map(([id, { source }]) => [id, Object(source).written_key as number]),
  )
}

it('a bulk that reached one shard only is fenced, and every document is written with a later timestamp', async () => {
  await test.write(versions(1))
  await reachFirstShard('orders-v1')
  const index = await services.openIndex()
  cut = '^orders-w-.*/_bulk'
  const results = await createWriter(index, Date.now).write(versions(2).map(changeOf), 'live')
  await index.close()

  expect(new Set(results)).toEqual(new Set(['written']))
  expect(await amounts()).toEqual(new Set([2]))
  const written = await timestamps('orders-v1')
  expect(written.size).toBe(accounts.length)
  // No commit confirmed what the bulk wrote, so it gets a new timestamp too.
  for (const [id, at] of written) expect(at, id).toBeGreaterThan(cutTimestamp)
  expect((await test.run('check')).code).toBe(0)
})

it.each([
  ['the live index', '^orders-w-\\d+-v1/_bulk'],
  ['the other write target', '^orders-w-\\d+-v2/_bulk'],
])(
  'after a writer died with half a bulk in %s, the next writer restores equal indices',
  async (_where, target) => {
    await test.write(versions(1))
    await test.beginReindex()
    await reachFirstShard(target.includes('v1') ? 'orders-v1' : 'orders-v2')
    const index = await services.openIndex()
    cut = target
    const dying = createWriter(index, Date.now).write(versions(2).map(changeOf), 'live')
    dying.catch(() => {})
    await expect.poll(() => cut).toBeUndefined()
    // The writer sends nothing more: its requests fail, and its lease expires.
    await node.close()

    await test.write(sourceOrder({ id: 'ord_other', owner_account_id: 'acc_other' }))
    await test.refresh()
    expect(await storedDocuments(test, 'orders-v2')).toEqual(
      await storedDocuments(test, 'orders-v1'),
    )

    await test.write(versions(2))
    expect(await amounts()).toEqual(new Set([2]))
    await test.reindexing.build()
    expect(await amounts()).toEqual(new Set([2]))
    expect((await test.run('check')).code).toBe(0)
  },
)

it('an order that half a bulk created is listed, and a count of all shards finds it once', async () => {
  await test.services.initialize()
  await reachFirstShard('orders-v1')
  const index = await services.openIndex()
  cut = '^orders-w-.*/_bulk'
  await createWriter(index, Date.now).write(versions(1).map(changeOf), 'live')
  await index.close()
  await test.refresh()
  const { count } = await opensearch<{ count: number }>('GET', `${test.prefix}orders/_count`)
  expect(count).toBe(accounts.length)
})
