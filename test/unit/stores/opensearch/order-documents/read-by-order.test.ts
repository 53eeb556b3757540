import { describe, expect, it } from 'vitest'
import type { ViewKey } from '../../../../../src/orders/order-store.ts'
import { readByOrder } from '../../../../../src/stores/opensearch/order-documents/read-by-order.ts'

const MEGABYTE = 1024 * 1024

const keysOf = (orderId: string, accounts: number): ViewKey[] =>
  Array.from({ length: accounts }, (_, n) => ({ accountId: `acc_${n}`, orderId }))

/** Reads keys of orders with these sizes, and records the number of keys of each request. */
async function read(keys: readonly ViewKey[], bytesOf: Record<string, number> = {}) {
  const requests: number[] = []
  const found = await readByOrder<ViewKey>(keys, {
    async read(some) {
      requests.push(some.length)
      return some
    },
    bytesOf: ({ orderId }) => bytesOf[orderId],
  })
  return { found, requests }
}

describe('the documents of orders', () => {
  it('orders of few accounts are read in one request', async () => {
    const keys = Array.from({ length: 300 }, (_, n) => keysOf(`ord_${n}`, 8)).flat()
    expect((await read(keys)).requests).toEqual([2_400])
  })

  it('an order of many accounts is read after its first document, 4 MB at a time', async () => {
    const keys = keysOf('ord_1', 101)
    expect((await read(keys, { ord_1: MEGABYTE })).requests).toEqual([1, ...Array(25).fill(4)])
    expect((await read(keys, { ord_1: 9 * MEGABYTE })).requests).toEqual(Array(101).fill(1))
    expect((await read(keys, { ord_1: 2_000 })).requests).toEqual([1, 100])
  })

  it('an order whose first document is missing is read eight documents at a time', async () => {
    expect((await read(keysOf('ord_1', 101))).requests).toEqual([1, ...Array(12).fill(8), 4])
  })

  it('what was found is returned in the sequence of the keys', async () => {
    const [one, two, three] = [keysOf('ord_1', 20), keysOf('ord_2', 3), keysOf('ord_3', 20)]
    const keys = [...one.slice(0, 10), ...three, ...two, ...one.slice(10)]
    const { found, requests } = await read(keys, { ord_1: MEGABYTE, ord_3: 10 })
    expect(found).toEqual(keys)
    expect(requests).toEqual([5, 4, 4, 4, 4, 22])
  })

  it('a read without a result for a key fails', async () => {
    const readNone = { read: async () => [], bytesOf: () => undefined }
    await expect(readByOrder(keysOf('ord_1', 1), readNone)).rejects.toThrow('no result')
  })
})
