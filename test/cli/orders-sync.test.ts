import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRandom } from '../../src/demo/random.ts'
import { runOrders, startOrders } from '../support/orders-cli/orders-command.ts'
import { copiedOrders } from '../support/orders-cli/orders-copies.ts'
import {
  changed,
  erased,
  FAST,
  type OrdersService,
  openOrdersService,
} from '../support/orders-cli/orders-service.ts'

const ROUNDS = 6

let service: OrdersService
/** Grows with every change, so that each is newer than those before. */
let times = 1
beforeAll(async () => {
  service = await openOrdersService(1_500, FAST)
})
afterAll(() => service.close())

describe.each([
  ['a folder', 'copy'],
  ['a database', 'sqlite:copy.db'],
])('a copy in %s', (_what, name) => {
  const place = () => ({ cwd: service.folder, env: service.env })
  const copied = () =>
    copiedOrders(
      name.startsWith('sqlite:')
        ? `sqlite:${join(service.folder, 'copy.db')}`
        : join(service.folder, name),
    )

  it('equals what the API lists, whatever changes and however often it is killed meanwhile', async () => {
    const random = createRandom(11, 0, 0)
    const source = service.visible()
    let killed = 0
    for (let round = 0; round < ROUNDS; round++) {
      const child = startOrders(['sync', name, '--all'], place())
      const ended = once(child, 'close')
      const writing = service.write([
        ...Array.from({ length: 30 }, () => changed(random.pick(source), ++times)),
        ...(round % 2 === 0 ? [erased(random.pick(source), ++times)] : []),
      ])
      await pause(random.between(250, 900))
      child.kill('SIGKILL')
      await Promise.all([ended, writing])
      if (child.signalCode === 'SIGKILL') killed++
    }
    expect(killed).toBeGreaterThan(0)
    const { code, stderr } = await runOrders(['sync', name, '--all'], place())
    expect(code, stderr).toBe(0)
    // What was under way counts for the walk that a process died in; the next one sees everything.
    expect((await runOrders(['sync', name, '--all'], place())).code).toBe(0)
    const listed = await service.listed()
    expect(await copied()).toEqual(new Map(listed.map((order) => [order.id, order])))
  })

  it('takes over what changed, with no walk over everything', async () => {
    const [order] = await service.listed('&updated_gte=2000-01-01T00:00:00Z')
    const versions = service.visible().filter(({ id }) => id === order?.id)
    await service.write(versions.map((version) => changed(version, ++times)))
    const { stdout } = await runOrders(['sync', name], place())
    expect(Number(/^([\d.]+) pedido/.exec(stdout)?.[1]?.replace('.', ''))).toBeLessThan(1_000)
    const listed = await service.listed()
    expect((await copied()).get(order?.id ?? '')).toEqual(listed.find(({ id }) => id === order?.id))
  })
})
