import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRandom } from '../../src/demo/random.ts'
import { runOrders, spawnOrders } from '../support/orders-cli/orders-cli.ts'
import {
  changed,
  erased,
  type OrdersService,
  openOrdersService,
} from '../support/orders-cli/orders-service.ts'
import { readSyncedOrders } from '../support/orders-cli/synced-orders.ts'

const KILLS = 4
/** A fast machine ends a sync before it is killed: the next kill comes earlier. */
const FIRST_KILL_MS = 900

let service: OrdersService
/** Increases with every change, so that each version is newer than the last. */
let times = 1
beforeAll(async () => {
  service = await openOrdersService(1_500)
})
afterAll(() => service.close())

describe.each([
  ['a folder', 'copy'],
  ['a database', 'sqlite:copy.db'],
])('orders sync to %s', (_what, name) => {
  const place = () => ({ cwd: service.folder, env: service.env })
  const copied = () =>
    readSyncedOrders(
      name.startsWith('sqlite:')
        ? `sqlite:${join(service.folder, 'copy.db')}`
        : join(service.folder, name),
    )

  it('matches the API’s listing despite concurrent writes and SIGKILLs', async () => {
    const random = createRandom(11, 0, 0)
    const source = service.visible()
    let killed = 0
    let withinMs = FIRST_KILL_MS
    for (let round = 0; killed < KILLS; round++) {
      const child = spawnOrders(['sync', name, '--all'], place())
      const ended = once(child, 'close')
      const writing = service.write([
        ...Array.from({ length: 30 }, () => changed(random.pick(source), ++times)),
        ...(round % 2 === 0 ? [erased(random.pick(source), ++times)] : []),
      ])
      await pause(random.between(withinMs / 4, withinMs))
      child.kill('SIGKILL')
      await Promise.all([ended, writing])
      if (child.signalCode === 'SIGKILL') killed++
      else withinMs *= 0.7
    }
    const { code, stderr } = await runOrders(['sync', name, '--all'], place())
    expect(code, stderr).toBe(0)
    // The first sync completes the run of a killed process. The second one reads everything.
    expect((await runOrders(['sync', name, '--all'], place())).code).toBe(0)
    const listed = await service.listed()
    expect(await copied()).toEqual(new Map(listed.map((order) => [order.id, order])))
  })

  it('receives changes without a full sync', async () => {
    const [order] = await service.listed('&updated_gte=2000-01-01T00:00:00Z')
    const versions = service.visible().filter(({ id }) => id === order?.id)
    await service.write(versions.map((version) => changed(version, ++times)))
    const { stdout } = await runOrders(['sync', name], place())
    expect(Number(/^([\d.]+) pedido/.exec(stdout)?.[1]?.replace('.', ''))).toBeLessThan(1_000)
    const listed = await service.listed()
    expect((await copied()).get(order?.id ?? '')).toEqual(listed.find(({ id }) => id === order?.id))
  })
})
