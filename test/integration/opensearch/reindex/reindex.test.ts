import { once } from 'node:events'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createWriter } from '../../../../src/indexing/writer/writer.ts'
import { runCommand, startCommand } from '../../../support/cli/command.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { opensearch } from '../../../support/stores/backend.ts'
import { useServices } from '../../../support/stores/use-services.ts'
import { readDocuments } from './stored-state.ts'

const test = useServices()

/** Writes orders 0 to `count` − 1 in this version; the amount identifies the version. */
async function write(count: number, version = 1): Promise<void> {
  const index = await test.services.openIndex()
  await createWriter(index, Date.now).write(
    Array.from({ length: count }, (_, n) => {
      return changeOf(sourceOrder({ id: `ord_${n}`, version, amount_total: version }))
    }),
    'live',
  )
  await index.close()
}

const deletion = { id: 'ord_0', version: 9, owner_account_id: 'acc_1', deleted: true }

/** The indices without their prefix, and the live one. */
async function versions(): Promise<{ all: Set<string>; read: string[] }> {
  const name = (index: string) => index.slice(test.prefix.length)
  const all = await opensearch<object>('GET', `${test.prefix}orders-v*`)
  const read = await opensearch<object>('GET', `_alias/${test.prefix}orders`)
  return { all: new Set(Object.keys(all).map(name)), read: Object.keys(read).map(name) }
}

const documents = async (index: string) =>
  Object.fromEntries<unknown>(await readDocuments(test, index))

describe('a reindex', () => {
  it('a reindex switches reads to an equal index and keeps writing to the old one', async () => {
    await write(20)
    const before = await documents('orders-v1')
    expect(await test.reindexing.build()).toEqual({
      live: `${test.prefix}orders-v2`,
      previous: `${test.prefix}orders-v1`,
      shards: 1,
      documents: 20,
      copied: 20,
      removed: 0,
    })
    expect(await versions()).toEqual({
      all: new Set(['orders-v1', 'orders-v2']),
      read: ['orders-v2'],
    })
    expect(await documents('orders-v2')).toEqual(before)

    await write(25, 2)
    expect(await documents('orders-v1')).toEqual(await documents('orders-v2'))
    expect(Object.keys(await documents('orders-v2'))).toHaveLength(25)
  })

  it('a reindex of an empty index creates an empty index', async () => {
    await test.services.initialize()
    expect(await test.reindexing.build()).toMatchObject({ documents: 0, copied: 0 })
    expect((await versions()).read).toEqual(['orders-v2'])
  })

  it('a reindex upgrades the mapping and fields of every document', async () => {
    await test.services.initialize()
    await opensearch('DELETE', `${test.prefix}orders-v1`)
    await opensearch('PUT', `${test.prefix}orders-v1`, {
      aliases: { [`${test.prefix}orders`]: {} },
      mappings: { properties: { status: { type: 'text' }, account_id: { type: 'keyword' } } },
    })
    await write(3)
    await opensearch('POST', `${test.prefix}orders-v1/_update_by_query?refresh=true`, {
      script: {
        // Documents written before checksum headers existed.
        source: `ctx._source.remove('frame'); ctx._source.remove('payment_method'); ctx._source.status = 'OLD'`,
      },
    })
    await test.reindexing.build()
    const { [`${test.prefix}orders-v2`]: index } = await opensearch<
      Record<string, { mappings: { dynamic: string; properties: Record<string, object> } }>
    >('GET', `${test.prefix}orders-v2`)
    expect(index?.mappings.dynamic).toBe('strict')
    expect(index?.mappings.properties).toMatchObject({ status: { type: 'keyword' } })
    const order = { status: 'PAID', payment_method: 'PIX' }
    expect(Object.values(await documents('orders-v2'))).toMatchObject([order, order, order])
  })

  it('finish reports the verified documents of the live index', async () => {
    await write(3)
    await test.reindexing.build()
    const progress: number[][] = []
    await test.reindexing.finish({ onProgress: (...counts) => progress.push(counts) })
    expect(progress).toEqual([[3, 3]])
  })

  it('finish keeps the live index only', async () => {
    await write(3)
    await test.reindexing.build()
    expect(await test.reindexing.finish()).toEqual({
      live: `${test.prefix}orders-v2`,
      removed: [`${test.prefix}orders-v1`],
    })
    await write(4, 2)
    expect(await versions()).toEqual({ all: new Set(['orders-v2']), read: ['orders-v2'] })
    expect(Object.keys(await documents('orders-v2'))).toHaveLength(4)
  })

  it('a rollback restores the previous index with all later writes', async () => {
    await write(3)
    await test.reindexing.build()
    await write(4, 2)
    const since = await documents('orders-v2')
    expect(await test.reindexing.rollBack()).toEqual({
      live: `${test.prefix}orders-v1`,
      removed: [`${test.prefix}orders-v2`],
    })
    expect(await versions()).toEqual({ all: new Set(['orders-v1']), read: ['orders-v1'] })
    expect(await documents('orders-v1')).toEqual(since)
  })

  it('a reindex is rejected until the previous one is finished or rolled back', async () => {
    await test.services.initialize()
    await test.reindexing.build()
    await expect(test.reindexing.build()).rejects.toThrow(
      /orders-v2 is live, and .*orders-v1 is still a write target .* --finish.*--rollback/,
    )
  })

  it('without a reindex, rollback fails and finish changes nothing', async () => {
    await write(1)
    await expect(test.reindexing.rollBack()).rejects.toThrow('there is nothing to roll back')
    expect(await test.reindexing.finish()).toEqual({ live: `${test.prefix}orders-v1`, removed: [] })
  })
})

describe('a reindex that was stopped while it copied', () => {
  beforeEach(async () => {
    await write(20)
    await test.beginReindex()
  })

  it('a stopped reindex keeps writing to its new index and can resume', async () => {
    expect(await versions()).toEqual({
      all: new Set(['orders-v1', 'orders-v2']),
      read: ['orders-v1'],
    })
    await write(21, 2)
    expect(await documents('orders-v2')).toEqual(await documents('orders-v1'))
    expect(await test.reindexing.build()).toMatchObject({
      live: `${test.prefix}orders-v2`,
      documents: 21,
    })
  })

  it('a stopped reindex cannot be finished', async () => {
    await expect(test.reindexing.finish()).rejects.toThrow(/reindex to .*orders-v2 is incomplete/)
  })

  it('a stopped reindex can be rolled back', async () => {
    await test.reindexing.rollBack()
    expect(await versions()).toEqual({ all: new Set(['orders-v1']), read: ['orders-v1'] })
  })
})

describe('a document that only the new index of a stopped reindex has', () => {
  const SLOW_MS = 30_000
  const putExtra = (written_key: number) =>
    opensearch('PUT', `${test.prefix}orders-v2/_doc/acc_1:extra?routing=acc_1&refresh`, {
      ...{ account_id: 'acc_1', id: 'extra', written_key },
    })

  it('is removed as a leftover when it is older than the new index', async () => {
    await write(20)
    await test.beginReindex()
    await putExtra(1_000)
    expect(await test.reindexing.build()).toMatchObject({ documents: 20, removed: 1 })
  })

  it('is kept when a writer with a slow clock may be about to write it to the live index', async () => {
    const wallClock = Date.now
    const slow = vi.spyOn(Date, 'now').mockImplementation(() => wallClock() - 2 * SLOW_MS)
    onTestFinished(() => void slow.mockRestore())
    await write(20)
    slow.mockRestore()
    await test.beginReindex()
    await putExtra(Date.now() - SLOW_MS)
    expect(await test.reindexing.build()).toMatchObject({ removed: 0 })
  })
})

describe('a delayed backfill copy', () => {
  /** Stops after the backfill, replays the copy of one old document, and resumes. */
  async function copiedLate(between: () => Promise<void>): Promise<void> {
    await write(2)
    const { [`acc_1:ord_0`]: early } = await documents('orders-v1')
    const stop = new AbortController()
    const build = test.reindexing.build({ onProgress: () => stop.abort(), signal: stop.signal })
    await expect(build).rejects.toThrow()
    await between()
    const { written_key: version } = early as { written_key: number }
    const late = `${test.prefix}orders-copy-v2/_doc/acc_1:ord_0?routing=acc_1&version_type=external&version=${version}`
    await expect(opensearch('PUT', late, early as object)).rejects.toThrow('version_conflict')
    await test.reindexing.build()
  }

  it('a delayed copy does not restore a document removed since', async () => {
    await copiedLate(async () => {
      const index = await test.services.openIndex()
      await createWriter(index, Date.now).write([changeOf(deletion)], 'live')
      await index.close()
    })
    expect(Object.keys(await documents('orders-v2'))).toEqual(['acc_1:ord_1'])
  })

  it('a delayed copy does not overwrite a document written since', async () => {
    await copiedLate(() => write(1, 2))
    expect((await documents('orders-v2'))['acc_1:ord_0']).toMatchObject({
      order: { amount_total: 2 },
    })
  })
})

describe('index reindex', () => {
  const run = (...args: string[]) => runCommand(['index', 'reindex', ...args], test.env)
  const line = (n: number) => JSON.stringify(sourceOrder({ id: `ord_${n}` }))
  const BULK = 1_000

  it('index reindex prints the live index and the next commands', async () => {
    await write(3)
    const built = await run()
    expect(built).toMatchObject({ code: 0, stderr: '' })
    expect(built.stdout).toMatch(/orders-v2 is read now: 3 documents.*\n.*--finish.*--rollback/)
    const finished = await run('--finish', '--json')
    expect(finished.code).toBe(0)
    expect(JSON.parse(finished.stdout)).toEqual({
      live: `${test.prefix}orders-v2`,
      removed: [`${test.prefix}orders-v1`],
    })
  })

  it('index reindex rejects --finish together with --rollback', async () => {
    expect((await run('--finish', '--rollback')).code).toBe(2)
  })

  it('index reindex runs during a load, which then writes to both indices', async () => {
    const load = startCommand(['index', 'load', '-', '--live'], test.env)
    const ended = once(load, 'close')
    const lines = (from: number) =>
      Array.from({ length: BULK }, (_, n) => line(from + n)).join('\n')
    load.stdin.write(`${lines(0)}\n${line(BULK)}\n`)
    await expect.poll(() => test.services.orders.get('acc_1', 'ord_0')).not.toBeNull()

    expect(await run()).toMatchObject({ code: 0 })
    load.stdin.end(`${lines(BULK + 1)}\n`)
    await ended
    expect(load.exitCode).toBe(0)
    await test.refresh()
    const counts = ['orders-v1', 'orders-v2'].map(async (index) => {
      return (
        await opensearch<{ count: number }>('GET', `${test.prefix}${index}/_count?q=_exists_:id`)
      ).count
    })
    expect(await Promise.all(counts)).toEqual([2 * BULK + 1, 2 * BULK + 1])
  })
})
