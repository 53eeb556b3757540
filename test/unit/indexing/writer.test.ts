import { beforeEach, describe, expect, it } from 'vitest'
import { createWriter } from '../../../src/indexing/writer.ts'
import { changeOf } from '../../support/changes.ts'
import { sourceOrder } from '../../support/source-order.ts'
import { INVISIBLE, NOW, pathOf, startWriter } from './writing.ts'

let { index, writer, live, order }: ReturnType<typeof startWriter> = startWriter()

beforeEach(() => {
  ;({ index, writer, live, order } = startWriter())
})

describe('a version', () => {
  it('that is the first is written', async () => {
    expect(await live(1)).toBe('written')
    expect(order()).toMatchObject({ id: 'ord_1', role: 'OWNER', status: 'PAID' })
  })

  it('that is newer is written', async () => {
    await live(1)
    expect(await live(2, { status: 'REFUNDED' })).toBe('written')
    expect(order()?.status).toBe('REFUNDED')
  })

  it.each([
    ['equal', 5],
    ['older', 4],
  ])('that is %s is dropped', async (_name, version) => {
    await live(5)
    expect(await live(version, { status: 'REFUNDED' })).toBe('older')
    expect([order()?.status, index.head('ord_1')?.version]).toEqual(['PAID', 5])
  })

  it('may be skipped', async () => {
    await live(1)
    expect(await live(900, { status: 'REFUNDED' })).toBe('written')
  })

  it('that shows nothing new is not written, but counts', async () => {
    await live(1)
    const before = index.document('acc_1', 'ord_1')
    expect(await live(2)).toBe('unchanged')
    expect(index.document('acc_1', 'ord_1')).toEqual(before)
    expect(await live(2, { status: 'REFUNDED' })).toBe('older')
  })

  it('that only has another changed_at shows nothing new', async () => {
    await live(1)
    expect(await live(2, { changed_at: '2026-03-09T00:00:00Z' })).toBe('unchanged')
  })

  it('whose tracking came in another order shows nothing new', async () => {
    await live(1, { tracking: { src: 'bio', a: '1' } })
    expect(await live(2, { tracking: { a: '1', src: 'bio' } })).toBe('unchanged')
  })
})

describe('the owner', () => {
  it('never changes', async () => {
    await live(1)
    const verdict = await live(2, { owner_account_id: 'acc_9' })
    expect(pathOf(verdict)).toBe('/owner_account_id')
    expect(index.keys()).toEqual(['acc_1:ord_1'])
  })

  it('never changes, also for a deletion', async () => {
    await live(1)
    const verdict = await live(2, { deleted: true, owner_account_id: 'acc_9' })
    expect(pathOf(verdict)).toBe('/owner_account_id')
    expect(index.keys()).toEqual(['acc_1:ord_1'])
  })

  it('never changes, also after a deletion', async () => {
    await live(1)
    await live(2, { deleted: true })
    expect(pathOf(await live(3, { owner_account_id: 'acc_9' }))).toBe('/owner_account_id')
  })
})

describe('created_at', () => {
  const created_at = '2026-03-01T12:00:00.001Z'

  it('never changes', async () => {
    await live(1)
    expect(pathOf(await live(2, { created_at }))).toBe('/created_at')
    expect(order()?.created_at).toBe('2026-03-01T12:00:00.000Z')
  })

  it('never changes, also after a deletion', async () => {
    await live(1)
    await live(2, { deleted: true })
    expect(pathOf(await live(3, { created_at }))).toBe('/created_at')
  })

  it('never changes, also while the order was not visible', async () => {
    await live(1, INVISIBLE)
    expect(pathOf(await live(2, { created_at }))).toBe('/created_at')
  })

  it('may come in another zone', async () => {
    await live(1)
    const given = { created_at: '2026-03-01T09:00:00-03:00' }
    expect(await live(2, { ...given, status: 'REFUNDED' })).toBe('written')
  })

  it('becomes known with the first version after a deletion of an unknown order', async () => {
    await live(1, { deleted: true })
    expect(await live(2)).toBe('written')
    expect(pathOf(await live(3, { created_at }))).toBe('/created_at')
  })

  it('of a refused version leaves the next one free', async () => {
    await live(1)
    await live(2, { created_at })
    expect(await live(2, { status: 'REFUNDED' })).toBe('written')
  })
})

describe('a bulk', () => {
  const change = (id: string, owner = 'acc_1') =>
    changeOf(sourceOrder({ id, version: 2, owner_account_id: owner }))

  it('tells what became of each change, in their order', async () => {
    await writer.write([change('ord_1'), change('ord_2')], 'live')
    const more = [change('ord_3'), change('ord_2'), change('ord_1', 'acc_9'), change('ord_4')]
    const verdicts = await writer.write(more, 'live')
    expect(verdicts.map(pathOf)).toEqual(['written', 'older', '/owner_account_id', 'written'])
  })

  it('has one stamp', async () => {
    await writer.write([change('ord_2'), change('ord_1'), change('ord_3', 'acc_2')], 'live')
    const stamps = index.keys().map((key) => {
      const [accountId = '', orderId = ''] = key.split(':')
      return index.document(accountId, orderId)?.updatedKey
    })
    expect(stamps).toEqual([index.stamp, index.stamp, index.stamp])
  })

  it('that fails before it is sent may be handed in again', async () => {
    let failures = 1
    const careful = createWriter(
      {
        async bulk(decide) {
          await index.bulk(async (stored) => {
            const writes = await decide(stored)
            if (failures-- > 0) throw new Error('disk full')
            return writes
          })
        },
      },
      () => NOW,
    )
    await expect(careful.write([change('ord_1')], 'live')).rejects.toThrow('disk full')
    expect(await careful.write([change('ord_1')], 'live')).toEqual(['written'])
  })

  it('is sent by the ids of its orders, so that its beginning is a beginning of the listing', async () => {
    const sent: string[] = []
    const watching = createWriter(
      {
        bulk: (decide) =>
          index.bulk(async (stored) => {
            const writes = await decide(stored)
            sent.push(...writes.views.map(({ orderId }) => orderId))
            return writes
          }),
      },
      () => NOW,
    )
    await watching.write([change('ord_9'), change('ord_10'), change('ord_1')], 'live')
    expect(sent).toEqual(['ord_1', 'ord_10', 'ord_9'])
  })
})
