import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { OrderIndex } from '../../../../src/indexing/writer/order-index.ts'
import { createWriter } from '../../../../src/indexing/writer/writer.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { opensearch } from '../../../support/stores/backend.ts'
import { thrownBy } from '../../../support/stores/scripted/scripted-nodes.ts'
import { useServices } from '../../../support/stores/use-services.ts'
import { useInterceptedReindexing } from './intercepted-reindexing.ts'

const test = useServices()
const intercepted = useInterceptedReindexing(test)

const name = (index: string) => `${test.prefix}${index}`
const remove = (index: string) => opensearch('DELETE', name(index))

describe('beside an active writer', () => {
  let stop: AbortController
  let index: OrderIndex
  /** The write that the writer retries until no target is lost. */
  let writing: Promise<unknown>
  beforeEach(() => test.write(sourceOrder({ id: 'ord_0' })))
  afterEach(async () => {
    stop.abort()
    await writing
    await index.close()
  })

  async function openWriter(): Promise<void> {
    stop = new AbortController()
    index = await test.services.openIndex({ signal: stop.signal })
  }

  /** Removes a target of the writer, and waits until the writer has failed to raise its fence. */
  async function lose(target: string): Promise<void> {
    await remove(target)
    const change = changeOf(sourceOrder({ id: 'ord_1' }))
    writing = thrownBy(createWriter(index, Date.now).write([change], 'live'))
    const lease = () => opensearch('GET', `${name('writer')}/_doc/orders`)
    await expect.poll(lease).toMatchObject({ _source: { fed: [] } })
  }

  /** Runs `work` before the backfill reads the new index for the first time. */
  function beforeScanOfNewIndex(work: () => Promise<unknown>): void {
    let isDone = false
    intercepted.intercept(async ({ path }) => {
      if (isDone || !/orders-w-\d+-v2\/_search/.test(path)) return
      isDone = true
      await work()
    })
  }

  const finish = () => test.reindexing.finish({ signal: AbortSignal.timeout(20_000) })

  it('finish ends when the old index is lost, and the writer continues', async () => {
    await test.reindexing.build({ shards: 2 })
    await openWriter()
    await lose('orders-v1')
    expect(await finish()).toMatchObject({ live: name('orders-v2') })
    expect(await writing).toEqual(['written'])
    await index.close()
    expect((await test.run('check')).code).toBe(0)
  })

  it('finish reports lost version records', async () => {
    await test.reindexing.build({ shards: 2 })
    await openWriter()
    await lose('order-heads-v2')
    await expect(finish()).rejects.toThrow(`no such index [${name('order-heads-v2')}]`)
  })

  it('an idle writer applies a rollback after it could not write to the new index', async () => {
    await openWriter()
    writing = Promise.resolve()
    let isClosed = false
    intercepted.intercept(async ({ method, path }) => {
      if (isClosed || method === 'GET' || !/writer\/_(doc|create)\/orders/.test(path)) return
      isClosed = true
      await opensearch('POST', `${name('orders-v2')}/_close`)
    })
    const interruption = new AbortController()
    const built = intercepted.reindexing?.build({ signal: interruption.signal })
    const lease = () => opensearch('GET', `${name('writer')}/_doc/orders`)
    await expect.poll(lease).toMatchObject({ _source: { fed: [] } })
    interruption.abort()
    await expect(built).rejects.toThrow('interrupted')

    const signal = AbortSignal.timeout(20_000)
    expect(await test.reindexing.rollBack({ signal })).toMatchObject({ live: name('orders-v1') })
  })

  it('a reindex whose new index is lost ends with that error within five minutes', async () => {
    const limits: number[] = []
    const timeout = AbortSignal.timeout.bind(AbortSignal)
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      limits.push(ms)
      return timeout(100)
    })
    await openWriter()
    beforeScanOfNewIndex(() => lose('orders-v2'))
    await expect(intercepted.reindexing?.build()).rejects.toThrow(/no such index \[.*-v2\]/)
    expect(limits).toHaveLength(1)
    expect(limits[0]).toBeGreaterThan(200_000)
    expect(limits[0]).toBeLessThanOrEqual(300_000)
  })

  it('a reindex whose new index is lost logs the loss, and no change of aliases', async () => {
    await openWriter()
    const interruption = new AbortController()
    const retries: string[] = []
    const onDelay = (reason: string) => {
      if (!reason.endsWith('; retrying')) return
      retries.push(reason)
      interruption.abort()
    }
    beforeScanOfNewIndex(() => remove('orders-v2'))
    const built = intercepted.reindexing?.build({ signal: interruption.signal, onDelay })
    await expect(built).rejects.toThrow('interrupted')
    expect(retries).toEqual([expect.stringMatching(/no such index \[.*-v2\]; retrying$/)])
  })
})

describe('in the status', () => {
  const build = () => test.reindexing.build({ shards: 2 })
  const begin = () => test.beginReindex(2)
  const status = async () => JSON.parse((await test.run('status', '--json', '--wait', '0s')).stdout)
  beforeEach(() => test.write(sourceOrder()))

  it.each([
    ['orders-v1', 'finish', build],
    ['order-heads-v1', 'finish', build],
    ['orders-v2', 'rollback', begin],
    ['order-heads-v2', 'rollback', begin],
  ])('a lost %s is listed with the command that removes it: %s', async (lost, command, reindex) => {
    await reindex()
    expect(await status()).toMatchObject({ missing_targets: [], pending_targets: [] })
    await remove(lost)
    const next_step = `"index reindex --${command}" removes it from the lease`
    expect(await status()).toMatchObject({
      missing_targets: [{ name: name(lost), next_step }],
      pending_targets: [],
    })
    expect((await test.run('status', '--wait', '0s')).stdout).toContain(
      `missing write target:  ${name(lost)}: no change can be written. ${next_step}\n`,
    )
    expect(await test.run('reindex', `--${command}`)).toMatchObject({ code: 0 })
    expect(await status()).toMatchObject({ missing_targets: [], pending_targets: [] })
  })

  it('write targets that no writer has applied yet are listed as requested', async () => {
    await opensearch('POST', `${name('writer')}/_update/orders`, { doc: { fed: [] } })
    const targets = [name('orders-v1'), name('order-heads-v1')]
    expect(await status()).toMatchObject({ missing_targets: [], pending_targets: targets })
    expect((await test.run('status', '--wait', '0s')).stdout).toMatch(
      /^new write targets: +\S+orders-v1, \S+order-heads-v1: requested, not applied yet$/m,
    )
    await test.write(sourceOrder({ id: 'ord_2' }))
    expect(await status()).toMatchObject({ pending_targets: [] })
  })
})
