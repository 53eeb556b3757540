import { expect, it } from 'vitest'
import { parseConfig } from '../../../../src/config/config.ts'
import { createWriter } from '../../../../src/indexing/writer/writer.ts'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import { openServices } from '../../../../src/services.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { readOrder } from '../../../support/orders/read-order.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { opensearch } from '../../../support/stores/backend.ts'
import { thrownBy } from '../../../support/stores/scripted/scripted-nodes.ts'
import { useServices } from '../../../support/stores/use-services.ts'

const test = useServices()

const order = (version: number) => sourceOrder({ version, amount_total: version })

/** Orders in version 2 of the index, without the lease that names it as the write target. */
async function loseLeaseAfterReindex(): Promise<void> {
  await test.write(order(1))
  await test.reindexing.build()
  await test.reindexing.finish()
  await opensearch('DELETE', `${test.prefix}writer-v1`)
}

/** Writes as a newly started process, which creates the missing index of the lease. */
async function writeRestarted(source: object): Promise<void> {
  const services = await openServices(parseConfig(test.env))
  try {
    const index = await services.openIndex()
    const written = createWriter(index, Date.now).write([changeOf(source)], 'live')
    await written.finally(() => index.close())
  } finally {
    await services.close()
  }
}

async function liveIndices(): Promise<string[]> {
  const found = await opensearch<object>('GET', `_alias/${test.prefix}orders`)
  return Object.keys(found).map((index) => index.slice(test.prefix.length))
}

async function amount(): Promise<number | undefined> {
  return (await readOrder(test.services.orders, order(1).id))?.amount_total
}

it('a writer without a lease document writes to the live index of a finished reindex', async () => {
  await loseLeaseAfterReindex()
  await writeRestarted(order(2))
  expect(await liveIndices()).toEqual(['orders-v2'])
  expect(await amount()).toBe(2)
})

it('a writer without a lease document makes no older version live that an operator kept', async () => {
  await loseLeaseAfterReindex()
  await opensearch('PUT', `${test.prefix}orders-v1`, { aliases: { [`${test.prefix}kept`]: {} } })
  await writeRestarted(sourceOrder({ id: 'ord_other' }))
  expect(await liveIndices()).toEqual(['orders-v2'])
  expect(await amount()).toBe(1)
})

it('a writer with a lease from before a reindex names the missing index and how to continue', async () => {
  const path = `${test.prefix}writer/_doc/orders`
  await test.write(order(1))
  const { _source: lease } = await opensearch<{ _source: object }>('GET', path)
  await test.reindexing.build()
  await test.reindexing.finish()
  await opensearch('PUT', path, lease)
  const [live, missing] = [`${test.prefix}orders-v2`, `${test.prefix}orders-v1`]
  const error = await thrownBy(writeRestarted(order(2)))
  expect(error).toEqual(
    new Unavailable(
      `the alias ${test.prefix}orders is on ${live}, which the last writer did not write: ${missing}, which it wrote, is missing. Restore ${missing} from a snapshot and move the alias to it with POST _aliases. Or, if ${live} has all orders, delete the lease with DELETE ${path}`,
    ),
  )
  await opensearch('DELETE', path)
  await writeRestarted(order(2))
  expect(await liveIndices()).toEqual(['orders-v2'])
  expect(await amount()).toBe(2)
})

it.each([
  ['finish', 'orders-v1', 'orders-v2', () => test.reindexing.finish()],
  ['rollback', 'orders-v2', 'orders-v1', () => test.reindexing.rollBack()],
])(
  'a writer with a lease from before a %s names the missing index and that command',
  async (command, missing, live, end) => {
    const path = `${test.prefix}writer/_doc/orders`
    await test.write(order(1))
    await test.reindexing.build()
    const { _source: lease } = await opensearch<{ _source: object }>('GET', path)
    await end()
    await opensearch('PUT', path, lease)
    expect(await thrownBy(writeRestarted(order(2)))).toEqual(
      new Unavailable(
        `a write target is missing: "index reindex --${command}" removes it from the lease: no such index [${test.prefix}${missing}]`,
      ),
    )
    expect(await test.run('reindex', `--${command}`)).toMatchObject({ code: 0 })
    await writeRestarted(order(2))
    expect(await liveIndices()).toEqual([live])
    expect(await amount()).toBe(2)
  },
)

it.each(['orders-v2', 'order-heads-v2'])(
  'a writer during a build without %s refers to the rollback, which succeeds',
  async (lost) => {
    const missing = `${test.prefix}${lost}`
    await test.write(order(1))
    await test.beginReindex(2)
    await opensearch('DELETE', missing)
    expect(await thrownBy(writeRestarted(order(2)))).toEqual(
      new Unavailable(
        `a write target is missing: "index reindex --rollback" removes it from the lease: no such index [${missing}]`,
      ),
    )
    expect(await test.run('reindex', '--rollback')).toMatchObject({ code: 0 })
    await writeRestarted(order(2))
    expect(await amount()).toBe(2)
  },
)

it('a reindex whose new index is missing refers to the rollback', async () => {
  await test.write(order(1))
  await test.beginReindex()
  await opensearch('DELETE', `${test.prefix}orders-v2`)
  await expect(test.reindexing.build()).rejects.toThrow(
    `${test.prefix}orders-v2 is missing: "index reindex --rollback"`,
  )
})

it('a rollback to an index that was lost during a build changes no lease', async () => {
  interface Lease {
    _source: { targets: string[] }
  }
  const path = `${test.prefix}writer/_doc/orders`
  await test.write(order(1))
  await test.reindexing.build()
  const { _source: built } = await opensearch<Lease>('GET', path)
  const lease = { ...built, targets: built.targets.toReversed() } // As while it is built.
  await opensearch('PUT', path, lease)
  await opensearch('DELETE', `${test.prefix}orders-v1`)
  await expect(test.reindexing.rollBack()).rejects.toThrow(
    `${test.prefix}orders-v1 is missing, so a rollback is impossible: recover the index`,
  )
  expect((await opensearch<Lease>('GET', path))._source).toEqual(lease)
})

it('a reindex without a lease document starts at the live index', async () => {
  await loseLeaseAfterReindex()
  const { code, stderr } = await test.run('reindex')
  expect({ code, stderr }).toMatchObject({ code: 0 })
  expect(await liveIndices()).toEqual(['orders-v3'])
  expect(await amount()).toBe(1)
})
