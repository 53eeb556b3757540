import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseConfig } from '../../../../src/config/config.ts'
import type { Reindexing } from '../../../../src/indexing/reindexing.ts'
import { load } from '../../../../src/indexing/sources/load.ts'
import { createWriter } from '../../../../src/indexing/writer/writer.ts'
import { wallClock } from '../../../../src/lib/clock.ts'
import { initAfterLoss, openServices, type Services } from '../../../../src/services.ts'
import { IndexLost } from '../../../../src/stores/index-lost.ts'
import { runCommand } from '../../../support/cli/command.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { type Backend, createBackend, opensearch } from '../../../support/stores/backend.ts'
import { thrownBy } from '../../../support/stores/scripted/scripted-nodes.ts'
import { ndjson } from '../../../support/stores/services.ts'

const COUNT = 5

let backend: Backend
let services: Services
let prefix: string
let reindexing: Reindexing
const opened: Services[] = []

beforeEach(async () => {
  backend = createBackend()
  prefix = `${backend.env['INDEX_PREFIX']}`
  services = await open()
  if (services.reindexing === null) throw new Error('no reindexing')
  reindexing = services.reindexing
})
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
  await backend.remove()
})

async function open(): Promise<Services> {
  const services = await openServices(parseConfig(backend.env))
  opened.push(services)
  return services
}

const orders = (version: number) =>
  Array.from({ length: COUNT }, (_, at) => sourceOrder({ id: `ord_${at}`, version }))

/** Writes as a newly started process does. */
async function write(version: number): Promise<void> {
  const index = await (await open()).openIndex()
  await load(ndjson(orders(version)), {
    writer: createWriter(index, wallClock),
    mode: 'live',
    onRejected(line, { path, reason }) {
      throw new Error(`line ${line}: ${path}: ${reason}`)
    },
    onProgress() {},
  }).finally(() => index.close())
  await backend.refresh()
}

const lose = (index: string) => opensearch('DELETE', `${prefix}${index}`)
const init = () => initAfterLoss(parseConfig(backend.env))
const count = async () =>
  (await opensearch<{ count: number }>('GET', `${prefix}orders/_count`)).count

async function lease() {
  const { _source } = await opensearch<{
    _source: { epoch: number; stamp_ceiling: number; targets: string[] }
  }>('GET', `${prefix}writer/_doc/orders`)
  return _source
}

async function versions(): Promise<string[]> {
  const found = await opensearch<{ index: string }[]>(
    'GET',
    `_cat/indices/${prefix}orders-v*?format=json`,
  )
  return found.map(({ index }) => index.slice(prefix.length)).sort((a, b) => (a < b ? -1 : 1))
}

describe('a prefix without indices', () => {
  it('two concurrent processes create one index', async () => {
    const others = await Promise.all([open(), open()])
    await Promise.all([services, ...others].map((each) => each.initialize()))
    expect(await versions()).toEqual(['orders-v1'])
    await write(1)
    expect(await count()).toBe(COUNT)
  })

  it('a process completes the initialisation that a killed process began', async () => {
    await services.initialize()
    // Removes the indices in reverse order of their creation.
    for (const made of ['accounts-v1', 'api-keys-v1', 'writer-v1', 'order-heads-v1', 'orders-v1']) {
      await lose(made)
      await (await open()).assertIndexNotLost()
    }
    await write(1)
    expect(await count()).toBe(COUNT)
  })
})

describe('a lost orders index', () => {
  it('no load, watch, reindex or init recreates a lost index, even if only the lease records it', async () => {
    await write(1)
    await lose('orders-v1')
    async function expectRejected() {
      const again = await open()
      const works: (() => Promise<unknown> | undefined)[] = [
        () => again.assertIndexNotLost(),
        () => again.initialize(),
        () => again.reindexing?.build(),
        () => again.reindexing?.finish(),
        () => again.reindexing?.rollBack(),
        () => again.openIndex(),
        () => again.openIndex({ purpose: 'watch' }),
      ]
      for (const work of works) await expect(work()).rejects.toBeInstanceOf(IndexLost)
    }
    await expectRejected()
    await lose('order-heads-v1')
    await expectRejected()
    expect(await versions()).toEqual([])
  })

  it('init --after-loss creates the index under its name and continues epoch and write timestamps', async () => {
    await write(1)
    await reindexing.build()
    await reindexing.finish()
    const before = await lease()
    await lose('orders-v2')
    expect(await init()).toMatchObject({ created: `${prefix}orders-v2`, unused: [] })
    expect(await count()).toBe(0)
    await write(2)
    expect(await count()).toBe(COUNT)
    const after = await lease()
    expect(after.epoch).toBeGreaterThan(before.epoch)
    expect(after.stamp_ceiling).toBeGreaterThan(before.stamp_ceiling)
    expect(await reindexing.build()).toMatchObject({ live: `${prefix}orders-v3`, documents: COUNT })
    await reindexing.finish()
    await write(3)
    expect(await count()).toBe(COUNT)
    expect(await versions()).toEqual(['orders-v3'])
  })

  it('a writer that was active during the loss writes to the new index', async () => {
    const index = await services.openIndex({ purpose: 'watch' })
    const writer = createWriter(index, wallClock)
    const [first, second] = [orders(1)[0], orders(2)[0]]
    const put = (order: object | undefined) =>
      load(ndjson([order ?? {}]), { writer, mode: 'live', onRejected() {}, onProgress() {} })
    await put(first)
    await lose('orders-v1')
    await init()
    await put(second)
    await index.close()
    await backend.refresh()
    expect(await count()).toBe(1)
  })

  it('a second lost write target of a reindex does not block the writer', async () => {
    await write(1)
    await reindexing.build()
    await reindexing.rollBack()
    await reindexing.build() // Reads version 2 and writes to both.
    await lose('orders-v1')
    await lose('orders-v2')
    expect(await init()).toMatchObject({ created: `${prefix}orders-v2`, unused: [] })
    expect((await lease()).targets).toEqual([`${prefix}orders-v2`])
    await write(2)
    expect(await count()).toBe(COUNT)
    expect(await reindexing.build()).toMatchObject({ live: `${prefix}orders-v3` })
  })

  it('init --after-loss refers to a rollback while the previous index receives writes', async () => {
    await write(1)
    await reindexing.build()
    await lose('orders-v2')
    await expect(init()).rejects.toThrow('"index reindex --rollback"')
    expect(await reindexing.rollBack()).toMatchObject({ live: `${prefix}orders-v1` })
    expect(await count()).toBe(COUNT)
    await write(2)
    expect(await count()).toBe(COUNT)
  })

  it('the rollback that the error names recovers from the loss', async () => {
    await write(1)
    await reindexing.build()
    await lose('orders-v2')
    const status = await runCommand(['index', 'status'], backend.env)
    expect(status).toMatchObject({ code: 1, stderr: expect.stringContaining('--rollback') })
    const rolledBack = await runCommand(['index', 'reindex', '--rollback'], backend.env)
    expect(rolledBack).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`${prefix}orders-v1 is read`),
    })
    await write(2)
    expect(await count()).toBe(COUNT)
  })

  it('init --after-loss rejects an index that only lost its alias', async () => {
    await write(1)
    await opensearch('DELETE', `${prefix}orders-v1/_alias/${prefix}orders`)
    expect(await thrownBy(services.assertIndexNotLost())).toBeInstanceOf(IndexLost)
    await expect(init()).rejects.toThrow('POST _aliases')
    const add = { index: `${prefix}orders-v1`, alias: `${prefix}orders` }
    await opensearch('POST', '_aliases', { actions: [{ add }] })
    await write(2)
    expect(await count()).toBe(COUNT)
  })

  it('init --after-loss recovers when only the version records remain', async () => {
    await write(1)
    await lose('orders-v1')
    await lose('writer-v1')
    expect(await init()).toMatchObject({ created: `${prefix}orders-v1` })
    await write(2)
    expect(await count()).toBe(COUNT)
  })
})

describe('a lost secondary write target', () => {
  it('a rollback rejects a lost index, so the lease still names the live index first', async () => {
    await write(1)
    await reindexing.build() // Reads version 2 and writes to both.
    await lose('orders-v1')
    const fed = [`${prefix}orders-v2`, `${prefix}orders-v1`]
    await expect(reindexing.rollBack({ signal: AbortSignal.timeout(20_000) })).rejects.toThrow(
      /orders-v1 is missing.*"index reindex --finish" keeps .*orders-v2/,
    )
    expect((await lease()).targets).toEqual(fed)
    expect(await reindexing.finish()).toMatchObject({ live: `${prefix}orders-v2` })
    await write(2)
    expect(await count()).toBe(COUNT)
  })
})
