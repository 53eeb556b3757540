import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLoadWriter } from '../../../../src/cli/indexer/load-writer.ts'
import type { OrderIndex } from '../../../../src/indexing/writer/order-index.ts'
import { Unavailable } from '../../../../src/lib/unavailable.ts'
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
const change = (id: string) => changeOf(sourceOrder({ id }))

describe('a load without a mode', () => {
  it('a load without a mode stops when a key is used during the load and keeps its writes', async () => {
    const { writer, mode } = await createLoadWriter({}, index, keys)
    await writer.write([change('ord_1')], mode)
    used = true
    vi.advanceTimersByTime(1_000)
    await expect(writer.write([change('ord_2')], mode)).rejects.toThrow('an API key was used')
    expect(index.keys()).toEqual(['acc_1:ord_1'])
  })

  it('a load without a mode checks key use at most once a second and tolerates an unavailable store', async () => {
    const { writer, mode } = await createLoadWriter({}, index, keys)
    for (const id of ['ord_1', 'ord_2']) await writer.write([change(id)], mode)
    expect(checks).toBe(1)
    used = new Unavailable('no node answers')
    vi.advanceTimersByTime(1_000)
    await writer.write([change('ord_3')], mode)
    expect([checks, index.keys().length]).toEqual([2, 3])
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
    const { writer, mode } = await createLoadWriter({}, watched, keys)
    const ids = ['ord_1', 'ord_2', 'ord_3', 'ord_4']
    const writes = ids.map((id) => {
      if (id !== 'ord_2') vi.advanceTimersByTime(1_000)
      return writer.write([change(id)], mode)
    })
    await Promise.all(writes)
    expect([locked, checks]).toEqual([ids, 4])
  })

  it('a load without a mode does not start while the key store is unavailable', async () => {
    used = new Unavailable('no node answers')
    await expect(createLoadWriter({}, index, keys)).rejects.toThrow(Unavailable)
  })
})

it.each([{ live: true }, { history: true }, { repair: true }] as const)(
  'a load with %j does not depend on the use of keys',
  async (flags) => {
    used = true
    await createLoadWriter(flags, index, keys)
    expect(checks).toBe(0)
  },
)
