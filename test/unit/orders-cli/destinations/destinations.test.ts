import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Order, SyncState } from '../../../../src/client/client.ts'
import { openDestination } from '../../../../src/orders-cli/destinations/destination.ts'
import type { LocalStore } from '../../../../src/orders-cli/destinations/local-store.ts'
import { apiOrder } from '../../../support/orders-cli/api-order.ts'
import { syncState } from '../../../support/orders-cli/sync-state.ts'
import { readSyncedOrders } from '../../../support/orders-cli/synced-orders.ts'
import { createTestFolder } from '../../../support/stores/test-folder.ts'

let folder: string
beforeEach(() => {
  folder = createTestFolder()
})

const orders = (...ids: string[]) => ids.map((id) => apiOrder({ id }))

const stateOf = (number: number, overrides: Partial<SyncState['pass']> = {}) =>
  syncState({ number, ...overrides })

describe.each([
  ['folder', 'copy'],
  ['database', 'sqlite:copy.db'],
])('a store in a %s', (_kind, name) => {
  const destination = () => name.replace('copy', join(folder, 'copy'))
  const ids = async () => [...(await readSyncedOrders(destination())).keys()].sort()

  /** Runs `work` on the store as one process would, and closes it. */
  async function using<T>(work: (store: LocalStore) => Promise<T>): Promise<T> {
    const store = await openDestination(destination(), { cwd: folder })
    try {
      return await work(store)
    } finally {
      await store.close()
    }
  }

  it('returns no state at first, and later the last one saved', async () => {
    expect(await using((store) => store.read())).toBeNull()
    await using(async (store) => {
      await store.save([], stateOf(1))
      await store.save([], stateOf(1, { cursor: 'abc' }))
    })
    expect(await using((store) => store.read())).toEqual(stateOf(1, { cursor: 'abc' }))
  })

  it('keeps the last version of each order', async () => {
    const later = apiOrder({
      id: 'ord_1',
      status: 'REFUNDED',
      customer: { ...apiOrder().customer, name: 'Zoé "=1"\n' },
    })
    await using(async (store) => {
      await store.save(orders('ord_1', 'ord_2'), stateOf(1))
      await store.save([later], stateOf(1))
    })
    expect(await readSyncedOrders(destination())).toEqual(
      new Map<string, Order>([
        ['ord_1', later],
        ['ord_2', apiOrder({ id: 'ord_2' })],
      ]),
    )
  })

  it('distinguishes ids that differ in case only', async () => {
    await using((store) => store.save(orders('ord_aB', 'ord_Ab', 'ord_ab'), stateOf(1)))
    expect(await ids()).toEqual(['ord_Ab', 'ord_aB', 'ord_ab'])
  })

  it('counts new and changed orders', async () => {
    await using(async (store) => {
      await store.save(orders('ord_1', 'ord_2'), stateOf(1))
      await store.save(
        [apiOrder({ id: 'ord_1', amount_total: 5 }), apiOrder({ id: 'ord_2' })],
        stateOf(2),
      )
      expect(store.changes()).toBe(3)
    })
  })

  it('deletes what a run has not seen, also if another process started the run', async () => {
    await using((store) => store.save(orders('ord_1', 'ord_2', 'ord_3', 'ord_4'), stateOf(1)))
    await using((store) => store.save(orders('ord_2'), stateOf(2)))
    const deleted = await using(async (store) => {
      await store.save(orders('ord_4'), stateOf(2, { reached: 'listed' }))
      return await store.deleteUnseen(2)
    })
    expect(deleted).toBe(2)
    expect(await ids()).toEqual(['ord_2', 'ord_4'])
  })

  it('reports a wait for the lock of another container, and stops waiting at an abort', async () => {
    const theirs = await using(async () => {
      const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      const mine = files.find((file) => file.includes('lock-')) ?? ''
      return join(folder, mine.replace(/lock-.*/, 'lock-77-88-0badc0de'))
    })
    writeFileSync(theirs, '')
    const lines: string[] = []
    const status = { printLine: (line: string) => lines.push(line) }
    const context = { cwd: folder, status, signal: AbortSignal.abort() }
    await expect(openDestination(destination(), context)).rejects.toThrow(/abort/)
    expect(lines).toEqual([expect.stringContaining(theirs)])
  })

  it('writes and deletes nothing after another process has removed its expired lock', async () => {
    await using((store) => store.save(orders('ord_1'), stateOf(1)))
    await using(async (store) => {
      const isLock = (name: string) => name.includes('lock-')
      const locks = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(isLock)
      expect(locks).toHaveLength(1)
      for (const name of locks) rmSync(join(folder, name))
      await expect(store.save(orders('ord_2'), stateOf(2))).rejects.toThrow(/perdeu a vez/)
      await expect(store.deleteUnseen(2)).rejects.toThrow(/perdeu a vez/)
    })
    expect(await ids()).toEqual(['ord_1'])
  })

  it('counts what a run has not seen without deleting it', async () => {
    await using(async (store) => {
      await store.save(orders('ord_1', 'ord_2', 'ord_3'), stateOf(1))
      await store.save(orders('ord_2'), stateOf(2, { reached: 'listed' }))
      expect(await store.countUnseen(2)).toEqual({ unseen: 2, total: 3 })
    })
    expect(await ids()).toHaveLength(3)
  })

  it('counts nothing while it is empty', async () => {
    await using(async (store) => {
      await store.save([], stateOf(1, { reached: 'listed' }))
      expect(await store.countUnseen(1)).toEqual({ unseen: 0, total: 0 })
    })
  })

  it('deletes what only an earlier run has seen that lost its cursor', async () => {
    await using(async (store) => {
      await store.save(orders('ord_1', 'ord_2'), stateOf(1))
      await store.save(orders('ord_2'), stateOf(2, { reached: 'listed' }))
      expect(await store.deleteUnseen(2)).toBe(1)
    })
    expect(await ids()).toEqual(['ord_2'])
  })

  it('deletes everything when a run saw nothing', async () => {
    await using(async (store) => {
      await store.save(orders('ord_1', 'ord_2'), stateOf(1))
      await store.save([], stateOf(2, { reached: 'listed' }))
      expect(await store.deleteUnseen(2)).toBe(2)
    })
    expect(await ids()).toEqual([])
  })
})

it('a folder whose name has a colon is reached with its path', async () => {
  const store = await openDestination('./loja:1', { cwd: folder })
  await store.close()
  expect(readdirSync(folder)).toContain('loja:1')
  await expect(openDestination('loja:1', { cwd: folder })).rejects.toThrow('escreva ./ antes dele')
})
