import { expect, it } from 'vitest'
import { DocumentRejectedError } from '../../../../src/indexing/writer/order-index.ts'
import { createWriter } from '../../../../src/indexing/writer/writer.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { interceptCommits } from '../../../support/stores/bulk.ts'
import { createMemoryOrderIndex } from './memory-order-index.ts'
import { NOW } from './order-writer.ts'

const changes = ['ord_1', 'ord_2', 'ord_3'].map((id) => changeOf(sourceOrder({ id })))

/** An index that takes no document of these orders. */
function indexRejecting(...refused: string[]) {
  const index = createMemoryOrderIndex()
  const rejecting = interceptCommits(index, (writes) => {
    const orderId = refused.find((id) => writes.views.some((view) => view.orderId === id))
    if (orderId !== undefined) throw new DocumentRejectedError(orderId, 'no such field')
    return writes
  })
  return { index, writer: createWriter(rejecting, () => NOW) }
}

it('a document that the store refuses costs its own order, and the others are written', async () => {
  const { index, writer } = indexRejecting('ord_3', 'ord_1')
  const refused = { path: '', reason: 'no such field' }
  expect(await writer.write(changes, 'live')).toEqual([refused, 'written', refused])
  expect(index.keys()).toEqual(['acc_1:ord_2'])
  expect(index.record('ord_1')).toBeUndefined()
})

it('a refusal of what was not sent is no refusal of an order', async () => {
  const rejecting = interceptCommits(createMemoryOrderIndex(), () => {
    throw new DocumentRejectedError('ord_9', 'no such field')
  })
  const writer = createWriter(rejecting, () => NOW)
  await expect(writer.write(changes, 'live')).rejects.toThrow('no such field')
})
