import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../../../src/config/config.ts'
import { createWriter } from '../../../../src/indexing/writer/writer.ts'
import { openServices, type Services } from '../../../../src/services.ts'
import { IndexLost } from '../../../../src/stores/index-lost.ts'
import { runCommand } from '../../../support/cli/command.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { opensearch } from '../../../support/stores/backend.ts'
import { useServices } from '../../../support/stores/use-services.ts'

const test = useServices()

const order = (version: number, id = 'ord_1') => sourceOrder({ id, version, amount_total: version })
const deletion = (version: number) => ({
  id: 'ord_2',
  version,
  owner_account_id: 'acc_1',
  deleted: true,
})
const lose = (...indices: string[]) =>
  opensearch('DELETE', indices.map((index) => `${test.prefix}${index}`).join(','))
const command = (...args: string[]) => runCommand(['index', ...args], test.env)

async function versionRecordIndices(): Promise<string[]> {
  const found = await opensearch<object>('GET', `${test.prefix}order-heads-v*`)
  return Object.keys(found).map((index) => index.slice(test.prefix.length))
}

/** Does the work as a newly started process. */
async function restarted<T>(work: (services: Services) => Promise<T>): Promise<T> {
  const services = await openServices(parseConfig(test.env))
  return await work(services).finally(() => services.close())
}

const write = (...sources: object[]) =>
  restarted(async (services) => {
    const index = await services.openIndex()
    const results = createWriter(index, Date.now).write(sources.map(changeOf), 'live')
    return await results.finally(() => index.close())
  })

async function expectEachWriterToFail(missing: string): Promise<void> {
  await expect(write(order(1))).rejects.toBeInstanceOf(IndexLost)
  for (const args of [['init'], ['reindex'], ['reindex', '--finish'], ['reindex', '--rollback']]) {
    const { code, stderr } = await command(...args)
    expect({ args, code }).toEqual({ args, code: 1 })
    expect(stderr).toContain('the index of the version records is lost')
    expect(stderr).toContain(`there is no index ${test.prefix}${missing}`)
    expect(stderr).toContain('"index init --after-loss"')
  }
}

describe('lost version records', () => {
  it.each([
    ['the writer lease', []],
    ['an order', ['writer-v1']],
  ])('no restart recreates version records whose loss %s shows', async (_what, alsoLost) => {
    await write(order(2))
    await test.refresh()
    await lose('order-heads-v1', ...alsoLost)
    await expectEachWriterToFail('order-heads-v1')
    expect(await versionRecordIndices()).toEqual([])
  })

  it('a dispatcher starts without version records, and does not recreate them', async () => {
    await write(order(2))
    await lose('order-heads-v1', 'order-events-v1')
    await restarted(async ({ webhooks }) => {
      const options = { onDelay() {}, signal: AbortSignal.any([]) }
      const lease = await webhooks.acquireLease(options)
      expect(await webhooks.events.next(10)).toBeNull()
      await lease.release()
    })
    expect(await versionRecordIndices()).toEqual([])
    await expect(write(order(1))).rejects.toBeInstanceOf(IndexLost)
  })

  it('a process that became the dispatcher without version records writes nothing', async () => {
    await write(order(2))
    await lose('order-heads-v1')
    await restarted(async ({ webhooks, openIndex }) => {
      const options = { onDelay() {}, signal: AbortSignal.any([]) }
      const lease = await webhooks.acquireLease(options)
      await expect(openIndex()).rejects.toBeInstanceOf(IndexLost)
      await lease.release()
    })
  })

  it('the error and init --after-loss name the writers as the processes to stop', async () => {
    await write(order(2))
    await lose('order-heads-v1')
    const { stderr } = await command('watch')
    expect(stderr).toContain(
      'stop every "index watch" and "index load", and "serve" where it writes pushed orders without a stream, then',
    )
    expect((await command('init', '--after-loss')).stderr).toContain(
      'Start other writers only after',
    )
  })

  it('tombstones alone are evidence of lost version records', async () => {
    await write(order(1, 'ord_2'))
    await write(deletion(2))
    await test.refresh()
    await lose('order-heads-v1', 'writer-v1')
    await expect(write(order(1, 'ord_2'))).rejects.toBeInstanceOf(IndexLost)
  })

  it('an interrupted first start has no version records to lose', async () => {
    await test.services.initialize()
    await lose('order-heads-v1')
    expect(await write(order(1))).toEqual(['written'])
  })

  it('init --after-loss and a repair with the deletions reject older versions again', async () => {
    await write(order(2), order(1, 'ord_2'))
    await write(deletion(2))
    await lose('order-heads-v1')
    const recovered = await command('init', '--after-loss')
    expect(recovered).toMatchObject({ code: 0 })
    expect(recovered.stderr).toContain(`${test.prefix}order-heads-v1 is empty`)
    const lines = [order(2), deletion(2)].map((change) => `${JSON.stringify(change)}\n`).join('')
    const repair = await runCommand(['index', 'load', '--repair', '-'], test.env, lines)
    expect(repair).toMatchObject({ code: 0 })
    expect(await write(order(1), order(1, 'ord_2'))).toEqual(['older', 'older'])
    expect((await command('check')).code).toBe(0)
    expect((await command('init', '--after-loss')).stderr).toContain('nothing is lost')
  })

  it('init --after-loss creates the version records under the name in the lease', async () => {
    await write(order(2))
    await test.reindexing.build({ shards: 2 })
    await lose('order-heads-v1', 'order-heads-v2')
    await expect(write(order(1))).rejects.toBeInstanceOf(IndexLost)
    expect(await command('init', '--after-loss')).toMatchObject({ code: 0 })
    expect(await versionRecordIndices()).toEqual(['order-heads-v2'])
    expect(await write(order(3))).toEqual(['written'])
    expect(await command('reindex', '--finish')).toMatchObject({ code: 0 })
    expect(await write(order(2))).toEqual(['older'])
  })

  it('a rollback in a new process succeeds when the new version records alone are lost', async () => {
    await write(order(2))
    await test.reindexing.build({ shards: 2 })
    await lose('order-heads-v2')
    expect(await command('reindex', '--rollback')).toMatchObject({ code: 0 })
    expect(await write(order(1))).toEqual(['older'])
  })

  it('a copy that a reindex was building replaces no lost version records', async () => {
    await write(order(2))
    await test.beginReindex(2)
    await lose('order-heads-v1')
    await expectEachWriterToFail('order-heads-v1')
    expect(await versionRecordIndices()).toEqual(['order-heads-v2'])
    const recovered = await command('init', '--after-loss')
    expect(recovered).toMatchObject({ code: 0 })
    expect(recovered.stderr).toContain(`${test.prefix}order-heads-v1 is empty`)
    expect(recovered.stderr).toContain(`${test.prefix}order-heads-v2 is no longer used`)
    expect(await write(order(3))).toEqual(['written'])
    expect(await command('reindex', '--rollback')).toMatchObject({ code: 0 })
    expect(await write(order(2))).toEqual(['older'])
  })

  it('an index that an interrupted attempt left replaces no lost version records', async () => {
    await write(order(2))
    await opensearch('PUT', `${test.prefix}order-heads-v2`)
    await lose('order-heads-v1')
    await expectEachWriterToFail('order-heads-v1')
    expect(await versionRecordIndices()).toEqual(['order-heads-v2'])
  })

  it('version records that only lost their alias are neither lost nor created again', async () => {
    await write(order(2))
    await test.reindexing.build({ shards: 2 })
    await test.reindexing.finish()
    await opensearch('DELETE', `${test.prefix}order-heads-v2/_alias/${test.prefix}order-heads`)
    expect(await command('init')).toMatchObject({ code: 0 })
    expect(await versionRecordIndices()).toEqual(['order-heads-v2'])
    expect(await write(order(1))).toEqual(['older'])
  })
})
