import { beforeEach, describe, expect, it } from 'vitest'
import {
  type BulkWrites,
  mapTransactions,
  type OrderIndex,
  type Transaction,
} from '../../../../src/indexing/writer/order-index.ts'
import { createWriter } from '../../../../src/indexing/writer/writer.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { NOW, pathOf, startWriter } from '../../../support/orders/order-writer.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { interceptCommits } from '../../../support/stores/bulk.ts'

let { index, writer, live }: ReturnType<typeof startWriter> = startWriter()

beforeEach(() => {
  ;({ index, writer, live } = startWriter())
})

const NOTHING: BulkWrites = { views: [], removals: [], eventRecords: [], versionRecords: [] }

describe('a bulk of the writer', () => {
  const change = (id: string, owner = 'acc_1') =>
    changeOf(sourceOrder({ id, version: 2, owner_account_id: owner }))

  /** A writer to the same index; `decided` receives its writes first. */
  const writerThrough = (decided: (writes: BulkWrites) => void | Promise<void>) =>
    createWriter(
      interceptCommits(index, async (writes) => {
        await decided(writes)
        return writes
      }),
      () => NOW,
    )

  it('the writer returns the result of each change in sequence', async () => {
    await writer.write([change('ord_1'), change('ord_2')], 'live')
    const more = [change('ord_3'), change('ord_2'), change('ord_1', 'acc_9'), change('ord_4')]
    const results = await writer.write(more, 'live')
    expect(results.map(pathOf)).toEqual(['written', 'older', '/owner_account_id', 'written'])
  })

  it('the documents of a bulk share one write timestamp', async () => {
    await writer.write([change('ord_2'), change('ord_1'), change('ord_3', 'acc_2')], 'live')
    const writeTimestamps = index.keys().map((key) => {
      const [accountId = '', orderId = ''] = key.split(':')
      return index.document(accountId, orderId)?.updatedKey
    })
    expect(writeTimestamps).toEqual([
      index.lastWriteTimestamp,
      index.lastWriteTimestamp,
      index.lastWriteTimestamp,
    ])
  })

  it('a bulk that failed before it was sent can be written again', async () => {
    let failures = 1
    const careful = writerThrough(() => {
      if (failures-- > 0) throw new Error('disk full')
    })
    await expect(careful.write([change('ord_1')], 'live')).rejects.toThrow('disk full')
    expect(await careful.write([change('ord_1')], 'live')).toEqual(['written'])
  })

  it('a bulk is sorted by order id, so that any prefix of it is a prefix of the listing', async () => {
    const sent: string[] = []
    const watching = writerThrough(({ views }) => {
      sent.push(...views.map(({ orderId }) => orderId))
    })
    await watching.write([change('ord_9'), change('ord_10'), change('ord_1')], 'live')
    expect(sent).toEqual(['ord_1', 'ord_10', 'ord_9'])
  })
})

describe('a bulk of unknown outcome that is decided twice', () => {
  /** Every first commit has an unknown outcome, with all of it written or nothing. */
  const decidingTwice = (wasWritten: boolean) =>
    createWriter(
      withUnknownOutcome(index, (transaction, writes) =>
        transaction.commit(wasWritten ? writes : NOTHING, 'live'),
      ),
      () => NOW,
    )
  const changes = [
    { id: 'ord_1', version: 1, status: 'REFUNDED' as const },
    { id: 'ord_1', version: 2 },
    { id: 'ord_1', version: 2, status: 'REFUNDED' as const },
    { id: 'ord_1', version: 2, owner_account_id: 'acc_9' },
    { id: 'ord_2', version: 1 },
  ].map((order) => changeOf(sourceOrder(order)))

  it.each([
    ['all of it was written', true],
    ['nothing of it was written', false],
  ])(
    'the writer returns the same results as for one decision when %s',
    async (_name, wasWritten) => {
      for (const change of changes) {
        const once = startWriter()
        ;({ index, live } = startWriter())
        await Promise.all([once.live(1), live(1)])
        const [result] = await decidingTwice(wasWritten).write([change], 'live')
        expect([result]).toEqual(await once.writer.write([change], 'live'))
      }
    },
  )

  it('the writer returns "written" for a change that only the second decision writes', async () => {
    await live(1)
    const [result] = await createWriter(
      // Only the version record of this version is written.
      withUnknownOutcome(index, () => live(2, { status: 'REFUNDED' })),
      () => NOW,
    ).write([changeOf(sourceOrder({ version: 3 }))], 'live')
    expect(result).toBe('written')
  })

  it('the writer keeps the results in the sequence of the changes', async () => {
    const orders = ['ord_1', 'ord_3'].map((id) => changeOf(sourceOrder({ id })))
    await writer.write(orders, 'live')
    const given = [
      sourceOrder({ id: 'ord_1', version: 2, owner_account_id: 'acc_9' }),
      sourceOrder({ id: 'ord_2' }),
      sourceOrder({ id: 'ord_3' }),
    ].map((order) => changeOf(order))
    const results = await decidingTwice(true).write(given, 'live')
    expect(results.map(pathOf)).toEqual(['/owner_account_id', 'written', 'older'])
  })
})

/** An index that replaces the first commit of every lock; its outcome is then unknown. */
function withUnknownOutcome(
  index: Pick<OrderIndex, 'lock'>,
  firstCommit: (transaction: Transaction, writes: BulkWrites) => Promise<unknown>,
): Pick<OrderIndex, 'lock'> {
  return {
    lock(orderIds) {
      let isFirst = true
      const interrupted = mapTransactions(index, (transaction) => {
        if (!isFirst) return transaction
        isFirst = false
        return {
          ...transaction,
          commit: async (writes) => {
            await firstCommit(transaction, writes)
            return false
          },
        }
      })
      return interrupted.lock(orderIds)
    },
  }
}
