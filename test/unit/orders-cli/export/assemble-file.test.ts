import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Order } from '../../../../src/client/client.ts'
import { assembleFile } from '../../../../src/orders-cli/export/assemble-file.ts'
import { apiOrder } from '../../../support/orders-cli/api-order.ts'
import { createTestFolder } from '../../../support/stores/test-folder.ts'

async function* trackings(orders: AsyncIterable<Order>) {
  for await (const { tracking } of orders) yield Buffer.from(JSON.stringify(tracking))
}

it('keeps names with escapes apart, which JSON.parse of V8 confuses', async () => {
  const folder = createTestFolder()
  const [part, file] = [join(folder, 'part'), join(folder, 'file')]
  // After the first one, JSON.parse reads the second name of the next as a backslash.
  const all = ['\\', '"'].map((name) => ({ zz7: 'x', [name]: 'y' }))
  const orders = all.map((tracking) => apiOrder({ tracking }))
  await writeFile(part, orders.map((order) => `${JSON.stringify(order)}\n`).join(''))
  await assembleFile(
    part,
    file,
    async (found) => trackings(found),
    () => {},
  )
  expect(await readFile(file, 'utf8')).toBe(all.map((one) => JSON.stringify(one)).join(''))
})
