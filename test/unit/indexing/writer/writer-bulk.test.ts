import { beforeEach, describe, expect, it } from 'vitest'
import type { BulkWrites } from '../../../../src/indexing/writer/order-index.ts'
import { createWriter } from '../../../../src/indexing/writer/writer.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { NOW, pathOf, startWriter } from './order-writer.ts'

let { index, writer, live }: ReturnType<typeof startWriter> = startWriter()

beforeEach(() => {
  ;({ index, writer, live } = startWriter())
})

const NOTHING: BulkWrites = { views: [], removals: [], versionRecords: [] }

describe('a bulk', () => {
  const change = (id: string, owner = 'acc_1') =>
    changeOf(sourceOrder({ id, version: 2, owner_account_id: owner }))

  /** A writer to the same index, whose every decision goes through here first. */
  const writerThrough = (decided: (writes: BulkWrites) => void | Promise<void>) =>
    createWriter(
      {
        bulk: (decide) =>
          index.bulk(async (stored) => {
            const writes = await decide(stored)
            await decided(writes)
            return writes
          }),
      },
      () => NOW,
    )

  it('tells what became of each change, in their order', async () => {
    await writer.write([change('ord_1'), change('ord_2')], 'live')
    const more = [change('ord_3'), change('ord_2'), change('ord_1', 'acc_9'), change('ord_4')]
    const results = await writer.write(more, 'live')
    expect(results.map(pathOf)).toEqual(['written', 'older', '/owner_account_id', 'written'])
  })

  it('has one stamp', async () => {
    await writer.write([change('ord_2'), change('ord_1'), change('ord_3', 'acc_2')], 'live')
    const stamps = index.keys().map((key) => {
      const [accountId = '', orderId = ''] = key.split(':')
      return index.document(accountId, orderId)?.updatedKey
    })
    expect(stamps).toEqual([
      index.lastWriteTimestamp,
      index.lastWriteTimestamp,
      index.lastWriteTimestamp,
    ])
  })

  it('that fails before it is sent may be handed in again', async () => {
    let failures = 1
    const careful = writerThrough(() => {
      if (failures-- > 0) throw new Error('disk full')
    })
    await expect(careful.write([change('ord_1')], 'live')).rejects.toThrow('disk full')
    expect(await careful.write([change('ord_1')], 'live')).toEqual(['written'])
  })

  it('is sent by the ids of its orders, so that its beginning is a beginning of the listing', async () => {
    const sent: string[] = []
    const watching = writerThrough(({ views }) => {
      sent.push(...views.map(({ orderId }) => orderId))
    })
    await watching.write([change('ord_9'), change('ord_10'), change('ord_1')], 'live')
    expect(sent).toEqual(['ord_1', 'ord_10', 'ord_9'])
  })
})

describe('a bulk that is decided twice, because nobody knows how much of it was written', () => {
  /** Writes it to its end, or not at all, and asks again. */
  const decidingTwice = (wasWritten: boolean) =>
    createWriter(
      {
        async bulk(decide) {
          if (wasWritten) await index.bulk(decide)
          else await index.bulk(async (stored) => decide(stored).then(() => NOTHING))
          await index.bulk(decide)
        },
      },
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
    ['all of it was', true],
    ['nothing of it was', false],
  ])('tells the same as one that is decided once when %s', async (_name, wasWritten) => {
    for (const change of changes) {
      const once = startWriter()
      ;({ index, live } = startWriter())
      await Promise.all([once.live(1), live(1)])
      const [result] = await decidingTwice(wasWritten).write([change], 'live')
      expect([result]).toEqual(await once.writer.write([change], 'live'))
    }
  })

  it('tells of a change that the second decision alone writes that it was written', async () => {
    await live(1)
    const [result] = await createWriter(
      {
        async bulk(decide) {
          await index.bulk((stored) => decide(stored).then(() => NOTHING))
          await live(2, { status: 'REFUNDED' }) // Of this version only the head will be known.
          await index.bulk(decide)
        },
      },
      () => NOW,
    ).write([changeOf(sourceOrder({ version: 3 }))], 'live')
    expect(result).toBe('written')
  })

  it('keeps the verdicts in the order of the changes', async () => {
    await live(1)
    const [older, , , refused, fresh] = changes
    const given = [refused, fresh, older].filter((change) => change !== undefined)
    const results = await decidingTwice(true).write(given, 'live')
    expect(results.map(pathOf)).toEqual(['/owner_account_id', 'written', 'older'])
  })
})
