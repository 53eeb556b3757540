import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Order, SyncState } from '../../../../src/client/client.ts'
import { openCopy } from '../../../../src/orders-command/copies/destination.ts'
import type { LocalCopy } from '../../../../src/orders-command/copies/local-copy.ts'
import { copiedOrders } from '../../../support/orders-cli/orders-copies.ts'
import { apiOrder } from '../../../support/orders-cli/orders-order.ts'
import { temporaryFolder } from '../../../support/stores/backend.ts'

let folder: string
let remove: () => void
beforeEach(() => {
  ;({ folder, remove } = temporaryFolder())
})
afterEach(() => remove())

const orders = (...ids: string[]) => ids.map((id) => apiOrder({ id }))

function stateOf(number: number, overrides: Partial<SyncState['pass']> = {}): SyncState {
  return {
    version: 1,
    source: { url: 'https://api.exemplo.com.br', key: 'abc' },
    since: null,
    watermark: null,
    walkedAt: null,
    pass: {
      number,
      kind: 'all',
      updatedGte: null,
      cursor: null,
      reached: 'listing',
      ...overrides,
    },
  }
}

describe.each([
  ['folder', 'copy'],
  ['database', 'sqlite:copy.db'],
])('a copy in a %s', (_kind, name) => {
  const destination = () => name.replace('copy', join(folder, 'copy'))
  const ids = async () => [...(await copiedOrders(destination())).keys()].sort()

  /** What one process does, which lets go of the copy in the end. */
  async function using<T>(work: (copy: LocalCopy) => Promise<T>): Promise<T> {
    const copy = await openCopy(destination())
    try {
      return await work(copy)
    } finally {
      await copy.close()
    }
  }

  it('has no state at first, and later the one that was kept last', async () => {
    expect(await using((copy) => copy.read())).toBeNull()
    await using(async (copy) => {
      await copy.save([], stateOf(1))
      await copy.save([], stateOf(1, { cursor: 'abc' }))
    })
    expect(await using((copy) => copy.read())).toEqual(stateOf(1, { cursor: 'abc' }))
  })

  it('has each order once, as it came last', async () => {
    const later = apiOrder({
      id: 'ord_1',
      status: 'REFUNDED',
      customer: { ...apiOrder().customer, name: 'Zoé "=1"\n' },
    })
    await using(async (copy) => {
      await copy.save(orders('ord_1', 'ord_2'), stateOf(1))
      await copy.save([later], stateOf(1))
    })
    expect(await copiedOrders(destination())).toEqual(
      new Map<string, Order>([
        ['ord_1', later],
        ['ord_2', apiOrder({ id: 'ord_2' })],
      ]),
    )
  })

  it('keeps ids apart that only differ in case', async () => {
    await using((copy) => copy.save(orders('ord_aB', 'ord_Ab', 'ord_ab'), stateOf(1)))
    expect(await ids()).toEqual(['ord_Ab', 'ord_aB', 'ord_ab'])
  })

  it('counts what is new or another', async () => {
    await using(async (copy) => {
      await copy.save(orders('ord_1', 'ord_2'), stateOf(1))
      await copy.save(
        [apiOrder({ id: 'ord_1', amount_total: 5 }), apiOrder({ id: 'ord_2' })],
        stateOf(2),
      )
      expect(copy.changes()).toBe(3)
    })
  })

  it('drops what a walk has not seen, also when another process began it', async () => {
    await using((copy) => copy.save(orders('ord_1', 'ord_2', 'ord_3', 'ord_4'), stateOf(1)))
    await using((copy) => copy.save(orders('ord_2'), stateOf(2)))
    const dropped = await using(async (copy) => {
      await copy.save(orders('ord_4'), stateOf(2, { reached: 'listed' }))
      return await copy.dropUnseen(2)
    })
    expect(dropped).toBe(2)
    expect(await ids()).toEqual(['ord_2', 'ord_4'])
  })

  it('counts what a walk has not seen before it drops it', async () => {
    await using(async (copy) => {
      await copy.save(orders('ord_1', 'ord_2', 'ord_3'), stateOf(1))
      await copy.save(orders('ord_2'), stateOf(2, { reached: 'listed' }))
      expect(await copy.countUnseen(2)).toEqual({ unseen: 2, total: 3 })
    })
    expect(await ids()).toHaveLength(3)
  })

  it('that is empty has nothing to count', async () => {
    await using(async (copy) => {
      await copy.save([], stateOf(1, { reached: 'listed' }))
      expect(await copy.countUnseen(1)).toEqual({ unseen: 0, total: 0 })
    })
  })

  it('drops what only a walk before has seen that lost its cursor', async () => {
    await using(async (copy) => {
      await copy.save(orders('ord_1', 'ord_2'), stateOf(1))
      await copy.save(orders('ord_2'), stateOf(2, { reached: 'listed' }))
      expect(await copy.dropUnseen(2)).toBe(1)
    })
    expect(await ids()).toEqual(['ord_2'])
  })

  it('drops everything when a walk saw nothing', async () => {
    await using(async (copy) => {
      await copy.save(orders('ord_1', 'ord_2'), stateOf(1))
      await copy.save([], stateOf(2, { reached: 'listed' }))
      expect(await copy.dropUnseen(2)).toBe(2)
    })
    expect(await ids()).toEqual([])
  })
})
