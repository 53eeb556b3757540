import { afterEach, beforeEach, expect, it } from 'vitest'
import type { OrderIndex } from '../../../../src/indexing/writer/order-index.ts'
import { createWriter } from '../../../../src/indexing/writer/writer.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { opensearch } from '../../../support/stores/backend.ts'
import { thrownBy } from '../../../support/stores/scripted/scripted-nodes.ts'
import { useServices } from '../../../support/stores/use-services.ts'

const test = useServices()

const name = (index: string) => `${test.prefix}${index}`
const finish = () => test.reindexing.finish({ signal: AbortSignal.timeout(20_000) })

let stop: AbortController
let index: OrderIndex
/** The write that the writer retries until a target is no longer lost. */
let writing: Promise<unknown>
beforeEach(async () => {
  stop = new AbortController()
  await test.write(sourceOrder({ id: 'ord_0' }))
  await test.reindexing.build({ shards: 2 })
  index = await test.services.openIndex({ signal: stop.signal })
})
afterEach(async () => {
  stop.abort()
  await writing
  await index.close()
})

/** Deletes a target of the active writer, and waits until it has failed to raise its fence. */
async function lose(target: string): Promise<void> {
  await opensearch('DELETE', name(target))
  const change = changeOf(sourceOrder({ id: 'ord_1' }))
  writing = thrownBy(createWriter(index, Date.now).write([change], 'live'))
  const lease = () => opensearch('GET', `${name('writer')}/_doc/orders`)
  await expect.poll(lease).toMatchObject({ _source: { fed: [] } })
}

it('finish ends beside an active writer when the old index is lost, and the writer continues', async () => {
  await lose('orders-v1')
  expect(await finish()).toMatchObject({ live: name('orders-v2') })
  expect(await writing).toEqual(['written'])
  await index.close()
  expect((await test.run('check')).code).toBe(0)
})

it('finish reports lost version records beside an active writer', async () => {
  await lose('order-heads-v2')
  await expect(finish()).rejects.toThrow(
    `run "index init", which creates it or reports its loss: no such index [${name('order-heads-v2')}]`,
  )
})
