import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLoadWriter } from '../../../../src/cli/indexer/load-writer.ts'
import type { OrderIndex } from '../../../../src/indexing/writer/order-index.ts'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import { formatInstant } from '../../../../src/lib/instant.ts'
import { changeOf } from '../../../support/orders/changes.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import {
  createMemoryOrderIndex,
  type MemoryOrderIndex,
} from '../../../support/stores/memory-order-index.ts'

let index: MemoryOrderIndex
/** Whether a key was used, or the error of that query. */
let used: boolean | Error
let checks: number
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
  index = createMemoryOrderIndex()
  used = false
  checks = 0
})
afterEach(() => {
  vi.useRealTimers()
})

const keys = {
  async wasAnyKeyUsed() {
    checks++
    if (typeof used !== 'boolean') throw used
    return used
  },
}
const CHANGED_AT = '2026-03-01T12:05:00.000Z'
const change = (id: string, version = 1) => changeOf(sourceOrder({ id, version }))
const updatedAt = (id: string) => index.order('acc_1', id)?.updated_at
const writeTimestampText = () => formatInstant(index.lastWriteTimestamp)

/** Opens the writer of a load without a mode. `onDelay` receives the reasons of delays. */
const open = (over: OrderIndex = index, onDelay: (reason: string) => void = () => {}) =>
  createLoadWriter({}, { index: over, keys, onDelay })

describe('a load without a mode', () => {
  it('a load without a mode stops when a key is used during the load and keeps its writes', async () => {
    const { writer, mode } = await open()
    await writer.write([change('ord_1')], mode)
    used = true
    vi.advanceTimersByTime(1_000)
    await expect(writer.write([change('ord_2')], mode)).rejects.toThrow('an API key was used')
    expect(index.keys()).toEqual(['acc_1:ord_1'])
  })

  it('a load without a mode checks key use at most once a second, and at its end', async () => {
    const { writer, mode, finish } = await open()
    for (const id of ['ord_1', 'ord_2']) await writer.write([change(id)], mode)
    expect(checks).toBe(1)
    vi.advanceTimersByTime(1_000)
    for (const id of ['ord_3', 'ord_4']) await writer.write([change(id)], mode)
    expect(checks).toBe(2)
    await finish()
    expect(checks).toBe(3)
  })

  it('a load without a mode waits for an unavailable store before it writes more', async () => {
    const delays: string[] = []
    const { writer, mode } = await open(index, (reason) => {
      delays.push(reason)
      used = false
    })
    used = new Unavailable('no node responds')
    vi.advanceTimersByTime(1_000)
    await writer.write([change('ord_1')], mode)
    expect([checks, delays]).toEqual([3, ['no node responds; retrying']])
  })

  it('a load without a mode writes in the sequence of the calls, also while it checks key use', async () => {
    const locked: string[] = []
    const watched: OrderIndex = {
      ...index,
      lock(orderIds) {
        locked.push(...orderIds)
        return index.lock(orderIds)
      },
    }
    const { writer, mode } = await open(watched)
    const ids = ['ord_1', 'ord_2', 'ord_3', 'ord_4']
    const writes = ids.map((id) => {
      if (id !== 'ord_2') vi.advanceTimersByTime(1_000)
      return writer.write([change(id)], mode)
    })
    await Promise.all(writes)
    expect([locked, checks]).toEqual([ids, 4])
  })

  it('a load without a mode makes its writes visible before it checks for a use, so that no later one misses them', async () => {
    const calls: string[] = []
    const watched: OrderIndex = {
      ...index,
      async refresh() {
        calls.push(`refresh after ${index.keys().length} orders and ${checks} checks`)
      },
    }
    const { writer, mode, finish } = await open(watched)
    await writer.write([change('ord_1')], mode)
    await finish()
    expect([calls, checks]).toEqual([['refresh after 1 orders and 1 checks'], 2])
  })

  it('a load without a mode does not start while the key store is unavailable', async () => {
    used = new Unavailable('no node responds')
    await expect(open()).rejects.toThrow(Unavailable)
  })
})

describe('a load without a mode beside the first use of a key', () => {
  it('the load dates orders with the write timestamp that it wrote since the last check without a use', async () => {
    const { writer, mode, finish } = await open()
    await writer.write([change('ord_1')], mode)
    vi.advanceTimersByTime(1_000)
    await writer.write([change('ord_2')], mode)
    used = true
    await finish()
    expect([updatedAt('ord_1'), updatedAt('ord_2')]).toEqual([CHANGED_AT, writeTimestampText()])
    expect(index.hasLiveWrites()).toBe(true)
  })

  it('the load dates the orders before a stop too', async () => {
    const { writer, mode, finish } = await open()
    await writer.write([change('ord_1')], mode)
    used = true
    vi.advanceTimersByTime(1_000)
    await expect(writer.write([change('ord_2')], mode)).rejects.toThrow('an API key was used')
    await finish()
    expect([updatedAt('ord_1'), index.keys()]).toEqual([writeTimestampText(), ['acc_1:ord_1']])
  })

  it('the load dates the orders of a write that failed in the middle', async () => {
    const { writer, mode, finish } = await open()
    index.failsAfter = 1
    await expect(writer.write([change('ord_1')], mode)).rejects.toThrow('it all ended')
    used = true
    await finish()
    expect(updatedAt('ord_1')).toBe(writeTimestampText())
  })

  it('the load announces no order of a write that failed, and no deletion', async () => {
    index.subscribed.add('acc_1')
    const { writer, mode, finish } = await open()
    await writer.write([change('ord_1')], mode)
    index.failsAfter = 0
    const deletion = { id: 'ord_1', version: 2, owner_account_id: 'acc_1', deleted: true }
    const failing = [changeOf(deletion), change('ord_2')]
    await expect(writer.write(failing, mode)).rejects.toThrow('it all ended')
    used = true
    await finish()
    expect([index.keys(), index.events]).toEqual([['acc_1:ord_2'], []])
  })

  it('the load dates an order whose second version changed nothing', async () => {
    const { writer, mode, finish } = await open()
    await writer.write([change('ord_1')], mode)
    await writer.write([change('ord_1', 2)], mode)
    used = true
    await finish()
    expect(updatedAt('ord_1')).toBe(writeTimestampText())
  })

  it('the load keeps the dates of orders that the index had before', async () => {
    const earlier = await open()
    await earlier.writer.write([change('ord_1')], earlier.mode)
    const { writer, mode, finish } = await open()
    expect(await writer.write([change('ord_1')], mode)).toEqual(['older'])
    used = true
    await finish()
    expect(updatedAt('ord_1')).toBe(CHANGED_AT)
  })
})

it.each([{ live: true }, { history: true }, { repair: true }] as const)(
  'a load with %j does not depend on the use of keys',
  async (flags) => {
    used = true
    await createLoadWriter(flags, { index, keys, onDelay() {} })
    expect(checks).toBe(0)
  },
)
