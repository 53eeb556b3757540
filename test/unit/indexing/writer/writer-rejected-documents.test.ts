import { expect, it } from 'vitest'
import { mapTransactions } from '../../../../src/indexing/writer/order-index.ts'
import { createWriter } from '../../../../src/indexing/writer/writer.ts'
import { DocumentRejectedError } from '../../../../src/indexing/writer/writer-errors.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { NOW } from '../../../support/orders/order-writer.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { interceptCommits } from '../../../support/stores/bulk.ts'
import { createMemoryOrderIndex } from '../../../support/stores/memory-order-index.ts'

const changes = ['ord_1', 'ord_2', 'ord_3'].map((id) => changeOf(sourceOrder({ id })))

/** An index that rejects the documents of these orders. */
function indexRejecting(...rejectedIds: string[]) {
  const index = createMemoryOrderIndex()
  const rejecting = interceptCommits(index, (writes) => {
    const orderId = rejectedIds.find((id) => writes.views.some((view) => view.orderId === id))
    if (orderId !== undefined) throw new DocumentRejectedError(orderId, 'no such field')
    return writes
  })
  return { index, writer: createWriter(rejecting, () => NOW) }
}

it('the writer drops an order whose document the store rejects and writes the others', async () => {
  const { index, writer } = indexRejecting('ord_3', 'ord_1')
  const rejection = { path: '', reason: 'no such field' }
  expect(await writer.write(changes, 'live')).toEqual([rejection, 'written', rejection])
  expect(index.keys()).toEqual(['acc_1:ord_2'])
  expect(index.record('ord_1')).toBeUndefined()
})

it('the writer throws a rejection of an order that it did not send', async () => {
  const rejecting = interceptCommits(createMemoryOrderIndex(), () => {
    throw new DocumentRejectedError('ord_9', 'no such field')
  })
  const writer = createWriter(rejecting, () => NOW)
  await expect(writer.write(changes, 'live')).rejects.toThrow('no such field')
})

it('the writer drops orders with damaged version records and writes the others', async () => {
  const index = createMemoryOrderIndex()
  const damaged = ['ord_1', 'ord_3']
  const reading = mapTransactions(index, (transaction) => ({
    ...transaction,
    async versionRecords(orderIds) {
      const orderId = orderIds.find((id) => damaged.includes(id))
      if (orderId !== undefined) throw new DocumentRejectedError(orderId, 'damaged')
      return transaction.versionRecords(orderIds)
    },
  }))
  const rejection = { path: '', reason: 'damaged' }
  const results = await createWriter(reading, () => NOW).write(changes, 'live')
  expect(results).toEqual([rejection, 'written', rejection])
  expect(index.keys()).toEqual(['acc_1:ord_2'])
})
