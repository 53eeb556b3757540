import { afterEach, describe, expect, it } from 'vitest'
import { parseConfig } from '../../../../src/config/config.ts'
import type { BulkWrites } from '../../../../src/indexing/writer/order-index.ts'
import { createWriter } from '../../../../src/indexing/writer/writer.ts'
import { wallClock } from '../../../../src/lib/clock.ts'
import { openServices, type Services } from '../../../../src/services.ts'
import { runCommand } from '../../../support/cli/command.ts'
import { watchInProcess } from '../../../support/cli/watch-process.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { opensearch } from '../../../support/stores/backend.ts'
import { interceptCommits } from '../../../support/stores/bulk.ts'
import { corruptDocument } from '../../../support/stores/damage-document.ts'
import { proxyTo, startServer } from '../../../support/stores/scripted/scripted-server.ts'
import { useServices } from '../../../support/stores/use-services.ts'
import { openChangeFeed } from '../../../support/streams/change-feed.ts'
import { recordedEvents, subscribe } from '../../../support/webhooks/recorded-events.ts'

const test = useServices()
const events = () => recordedEvents(test)

const AWAITING = { status: 'AWAITING_PAYMENT' } as const
const REFUNDED = { status: 'REFUNDED' } as const
const order = (version: number, changes: object = {}) => sourceOrder({ version, ...changes })
const erased = (version: number) => ({
  id: 'ord_1',
  version,
  owner_account_id: 'acc_1',
  deleted: true,
})

/** Runs `index load` with these source orders. */
async function load(orders: readonly object[], ...options: string[]): Promise<void> {
  const lines = orders.map((one) => `${JSON.stringify(one)}\n`).join('')
  const result = await runCommand(['index', 'load', '-', ...options], test.env, lines)
  if (result.code !== 0) throw new Error(result.stderr)
  await test.refresh()
}

/** Stores of a process that starts now. */
const opened: Services[] = []
async function openProcess(settings: Record<string, string> = {}): Promise<Services> {
  const services = await openServices(parseConfig({ ...test.env, ...settings }))
  opened.push(services)
  return services
}
afterEach(async () => {
  for (const services of opened.splice(0)) await services.close()
})

const CREATED = 'ord_1 1 order.created acc_1 new to AWAITING_PAYMENT'
const WAITS = 'ord_1 2 order.awaiting_payment acc_1 new to AWAITING_PAYMENT'
const PAID = 'ord_1 3 order.paid acc_1 AWAITING_PAYMENT to PAID'

describe('the event records of index load', () => {
  it('a live load records each change once, and a repeated one nothing', async () => {
    await subscribe(test, 'acc_1')
    const changes = [order(1, AWAITING), order(2), order(2), order(1, AWAITING)]
    await load(changes, '--live')
    expect(await events()).toEqual([CREATED, WAITS, PAID])
    await load(changes, '--live')
    expect(await events()).toEqual([CREATED, WAITS, PAID])
  })

  it('a live load records nothing for accounts without an endpoint', async () => {
    await subscribe(test, 'acc_2')
    await load([order(1)], '--live')
    expect(await events()).toEqual([])
    await load([order(2, { coproducer_account_ids: ['acc_2'] })], '--live')
    expect(await events()).toEqual([
      'ord_1 1 order.created acc_2 new to PAID',
      'ord_1 2 order.paid acc_2 new to PAID',
    ])
  })

  it('a load of history records nothing, and the next live change starts at its state', async () => {
    await subscribe(test, 'acc_1')
    await load([order(1, AWAITING)])
    expect(await events()).toEqual([])
    await load([order(2)], '--live')
    expect(await events()).toEqual(['ord_1 1 order.paid acc_1 AWAITING_PAYMENT to PAID'])
  })

  it('a repair and a reprojection of an indexed version record nothing, and the next change is complete', async () => {
    await subscribe(test, 'acc_1')
    await load([order(1, AWAITING)], '--live')
    await corruptDocument(test, 'acc_1', 'ord_1')
    await load([order(1, AWAITING)], '--repair')
    await load([order(1, AWAITING)], '--live', '--reproject')
    expect(await events()).toEqual([CREATED, WAITS])
    await load([order(2)], '--repair')
    expect(await events()).toEqual([CREATED, WAITS, PAID])
  })

  it('a live load with --reproject records newer versions, and a repeated one nothing', async () => {
    await subscribe(test, 'acc_1')
    await load([order(1, AWAITING)], '--live', '--reproject')
    await load([order(1, AWAITING), order(2)], '--live', '--reproject')
    await load([order(2)], '--live')
    expect(await events()).toEqual([CREATED, WAITS, PAID])
  })

  it('an erased order is removed once, and created again with the next sequence', async () => {
    await subscribe(test, 'acc_1')
    await load([order(1, AWAITING), erased(2)], '--live')
    await load([erased(2), erased(3), order(4)], '--live')
    expect(await events()).toEqual([
      CREATED,
      WAITS,
      'ord_1 3 order.removed acc_1',
      'ord_1 4 order.created acc_1 new to PAID',
      'ord_1 5 order.paid acc_1 new to PAID',
    ])
  })
})

describe('the event records of index watch', () => {
  it('index watch records the changes of its stream once, also those delivered again', async () => {
    await subscribe(test, 'acc_1', 'acc_2')
    const feed = openChangeFeed(test.env)
    await feed.add(order(1, AWAITING), order(2))
    await feed.takeAs('dead', 1)
    const first = watchInProcess(test.env)
    await feed.allProcessed()
    expect(await first.stop()).toBe(0)
    const second = watchInProcess(test.env)
    await feed.add(order(2), order(3, { coproducer_account_ids: ['acc_2'] }), order(1, AWAITING))
    await feed.allProcessed()
    expect(await second.stop()).toBe(0)
    await feed.close()
    expect(await events()).toEqual([
      CREATED,
      WAITS,
      PAID,
      'ord_1 4 order.created acc_2 new to PAID',
      'ord_1 5 order.paid acc_2 new to PAID',
    ])
  })
})

describe('the event records of a reindex', () => {
  const REFUND = 'ord_1 4 order.refunded acc_1 PAID to REFUNDED'
  const DISPUTE = 'ord_1 5 order.disputed acc_1 REFUNDED to DISPUTED'

  it.each([
    ['finished', () => test.reindexing.finish()],
    ['rolled back', () => test.reindexing.rollBack()],
  ])('a reindex that is %s records nothing, and each change beside it once', async (_how, end) => {
    await subscribe(test, 'acc_1')
    await test.write(order(1, AWAITING))
    await test.beginReindex()
    await test.write(order(2)) // Dual write.
    await test.reindexing.build()
    await test.write(order(3, REFUNDED))
    expect(await events()).toEqual([CREATED, WAITS, PAID, REFUND])
    await end()
    await test.write(order(3, REFUNDED), order(4, { status: 'DISPUTED' }))
    expect(await events()).toEqual([CREATED, WAITS, PAID, REFUND, DISPUTE])
  })
})

describe('a writer that dies during a commit', () => {
  /** Writes one version, and leaves out what a dead writer does not send. */
  async function die(source: object, unsent: Partial<BulkWrites>): Promise<void> {
    const index = await (await openProcess()).openIndex()
    const dying = interceptCommits(index, (writes) => ({ ...writes, ...unsent }))
    await createWriter(dying, wallClock).write([changeOf(source)], 'live')
    await index.close()
  }

  const AFTER_VIEWS = { eventRecords: [], versionRecords: [] }
  const AFTER_EVENTS = { versionRecords: [] }

  it.each([
    ['views and the event record', AFTER_VIEWS, [CREATED, WAITS]],
    ['the event record and the version record', AFTER_EVENTS, [CREATED, WAITS, PAID]],
  ])(
    'a death between %s is completed by the next writer of the same version',
    async (_where, unsent, left) => {
      await subscribe(test, 'acc_1')
      await test.write(order(1, AWAITING))
      await die(order(2), unsent)
      expect(await events()).toEqual(left)
      await test.write(order(2))
      expect(await events()).toEqual([CREATED, WAITS, PAID])
    },
  )

  it.each([
    ['views and the event record', AFTER_VIEWS, 'AWAITING_PAYMENT', 3],
    ['the event record and the version record', AFTER_EVENTS, 'PAID', 4],
  ])(
    'a later version after a death between %s starts at the state that was announced',
    async (_where, unsent, from, sequence) => {
      await subscribe(test, 'acc_1')
      await test.write(order(1, AWAITING))
      await die(order(2), unsent)
      await test.write(order(3, REFUNDED), order(2))
      const last = (await events()).at(-1)
      expect(last).toBe(`ord_1 ${sequence} order.refunded acc_1 ${from} to REFUNDED`)
    },
  )

  it('a co-producer of a dead writer learns that the order was removed', async () => {
    await subscribe(test, 'acc_2')
    await test.write(order(1))
    await die(order(2, { coproducer_account_ids: ['acc_2'] }), AFTER_EVENTS)
    await test.write(erased(3))
    expect((await events()).at(-1)).toBe('ord_1 3 order.removed acc_2')
  })

  it('a change after an account got its endpoint survives a death after its views', async () => {
    await test.write(order(1, AWAITING))
    await subscribe(test, 'acc_1')
    const index = await (await openProcess()).openIndex()
    let views = 0
    const dying = interceptCommits(index, (writes) => {
      views += writes.views.length
      return writes.views.length > 0 ? { ...writes, ...AFTER_VIEWS } : writes
    })
    await createWriter(dying, wallClock).write([changeOf(order(2))], 'live')
    await index.close()
    expect(views).toBe(1)
    const next = await (await openProcess()).openIndex()
    await createWriter(next, wallClock).write([changeOf(order(2))], 'live')
    await next.close()
    expect(await events()).toEqual(['ord_1 1 order.paid acc_1 AWAITING_PAYMENT to PAID'])
  })
})

describe('a late bulk of event records', () => {
  it('a bulk of an earlier epoch is rejected, and creates neither records nor an index', async () => {
    const [node = ''] = `${test.env['OPENSEARCH_URL']}`.split(',')
    const proxy = await startServer([proxyTo(node)])
    await subscribe(test, 'acc_1')
    const early = await openProcess({ OPENSEARCH_URL: proxy.url })
    const index = await early.openIndex()
    await createWriter(index, wallClock).write([changeOf(order(1))], 'live')
    await index.close()
    const bulk = proxy.received.findLast(({ path }) =>
      path.startsWith(`/${test.prefix}order-events-w-`),
    )
    if (bulk === undefined) throw new Error('expected a bulk of event records')
    const before = await events()
    await test.write(order(1)) // The next epoch; nothing changes.

    const send = async (path: string, body: string) => {
      const headers = { 'content-type': 'application/x-ndjson' }
      const response = await fetch(`${node}${path}`, { method: 'POST', headers, body })
      const { items } = (await response.json()) as { items: Record<string, { status: number }>[] }
      return items.flatMap((item) => Object.values(item).map(({ status }) => status))
    }
    const another = bulk.body.toString().replaceAll('ord_1:1', 'ord_1:99')
    expect(another).toContain('ord_1:99')
    expect(await send(bulk.path, another)).toEqual([404])
    // As a node that resolved the alias before the swap.
    expect(await send(`/${test.prefix}order-events/_bulk`, bulk.body.toString())).toEqual([409])
    expect(await events()).toEqual(before)
    const indices = await opensearch<object>('GET', `${test.prefix}order-events*`)
    expect(Object.keys(indices)).toEqual([`${test.prefix}order-events-v1`])
    await proxy.close()
  })
})

describe('an index of an earlier release', () => {
  /** Removes what this release added. */
  async function downgrade(): Promise<void> {
    await test.refresh()
    await opensearch('POST', `${test.prefix}order-heads/_update_by_query?refresh=true`, {
      script: { source: "ctx._source.remove('announced')" },
    })
    await opensearch('DELETE', `${test.prefix}order-events-v1`)
  }

  it('an index of an earlier release announces the next change from the stored state', async () => {
    await test.write(order(1, AWAITING), sourceOrder({ id: 'ord_2' }))
    await downgrade()
    await subscribe(test, 'acc_1')
    const index = await (await openProcess()).openIndex()
    const writer = createWriter(index, wallClock)
    const unchanged = sourceOrder({ id: 'ord_2', version: 2 })
    await writer.write([order(2), unchanged].map(changeOf), 'live')
    await index.close()
    expect(await events()).toEqual(['ord_1 1 order.paid acc_1 AWAITING_PAYMENT to PAID'])
  })

  it('a reindex of an index of an earlier release works, and the next change is announced', async () => {
    await test.write(order(1, AWAITING))
    await downgrade()
    const { reindexing } = await openProcess()
    await reindexing?.build()
    await reindexing?.finish()
    await subscribe(test, 'acc_1')
    const index = await (await openProcess()).openIndex()
    await createWriter(index, wallClock).write([changeOf(order(2))], 'live')
    await index.close()
    expect(await events()).toEqual(['ord_1 1 order.paid acc_1 AWAITING_PAYMENT to PAID'])
  })
})
