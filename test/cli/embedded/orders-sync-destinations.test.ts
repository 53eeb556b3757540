import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { finish, runOrders, startOrders } from '../../support/orders-cli/orders-command.ts'
import { copiedOrders } from '../../support/orders-cli/orders-copies.ts'
import {
  changed,
  erased,
  FAST,
  type OrdersService,
  openOrdersService,
  SLOW,
} from '../../support/orders-cli/orders-service.ts'

let service: OrdersService
/** Grows with every change, so that each is newer than those before. */
let times = 1
beforeAll(async () => {
  service = await openOrdersService(400, FAST)
})
afterAll(() => service.close())

const place = (env: Record<string, string> = {}) => ({
  cwd: service.folder,
  env: { ...service.env, ...env },
})
const inFolder = (name: string) => join(service.folder, name)
const sync = (...args: string[]) => runOrders(['sync', ...args], place())

describe.each([
  ['folder', 'pasta'],
  ['database', 'sqlite:banco.db'],
])('a copy in a %s', (_kind, destination) => {
  const locks = () =>
    readdirSync(service.folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.includes('lock-'),
    )

  it('tells what it did, on stdout', async () => {
    const listed = await service.listed()
    const { code, stdout } = await sync(destination)
    expect(code).toBe(0)
    expect(stdout).toMatch(
      new RegExp(
        `^${listed.length} pedidos lidos \\(${listed.length} novos ou alterados\\), 0 removidos; cópia em dia até 20.*Z\\n$`,
      ),
    )
  })

  it('of another key is refused, unless that is told to be of the same account', async () => {
    const key = await service.createKey()
    const other = () => runOrders(['sync', destination], place({ ORDERS_API_KEY: key }))
    const refused = await other()
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('--accept-new-key')
    const flags = ['sync', destination, '--accept-new-key']
    expect((await runOrders(flags, place({ ORDERS_API_KEY: key }))).code).toBe(0)
    expect((await other()).code).toBe(0)
    expect((await sync(destination, '--accept-new-key')).code).toBe(0)
  })

  it('loses an order that is gone at the next walk over everything', async () => {
    const order = service.visible().at(-1)
    if (order === undefined) throw new Error('no order')
    await service.write([erased(order, ++times)])
    expect((await sync(destination, '--all')).stdout).toContain(', 1 removido;')
    await service.write([changed(order, ++times)])
    expect((await sync(destination, '--all')).stdout).toContain('(1 novo ou alterado)')
  })

  it('says that it keeps its beginning', async () => {
    const { code, stderr } = await sync(destination, '--since', '2026-01-01T00:00:00Z')
    expect(code).toBe(0)
    expect(stderr).toContain('--since vale só na primeira vez: esta cópia tem todos os pedidos')
  })

  it('keeps a second process off, and goes on after a first that was killed', async () => {
    await service.restart(SLOW)
    const child = startOrders(['sync', destination, '--all'], place())
    await expect.poll(locks, { timeout: 20_000 }).toHaveLength(1)
    const second = await sync(destination)
    expect(second.code).toBe(1)
    expect(second.stderr).toContain(`Outro processo já sincroniza`)
    child.kill('SIGKILL')
    await once(child, 'close')
    await service.restart(FAST)
    expect((await sync(destination)).code).toBe(0)
  })

  it('that is interrupted says how to go on', async () => {
    await service.restart(SLOW)
    const child = startOrders(['sync', destination, '--all'], place())
    const finished = finish(child)
    await expect.poll(locks, { timeout: 20_000 }).toHaveLength(1)
    child.kill('SIGINT')
    const { code, stderr } = await finished
    expect(code).toBe(130)
    expect(stderr).toContain(`Para continuar:\n  orders sync ${destination} --all\n`)
    await service.restart(FAST)
    expect((await sync(destination, '--all')).code).toBe(0)
    expect(
      (await copiedOrders(destination.replace(/^(sqlite:)?/, `$1${service.folder}/`))).size,
    ).toBe((await service.listed()).length)
  })
})

describe('a destination that is something else', () => {
  it('is refused as a folder, and untouched', async () => {
    mkdirSync(inFolder('fotos'))
    writeFileSync(inFolder('fotos/a.jpg'), 'x')
    const { code, stderr } = await sync('fotos')
    expect(code).toBe(1)
    expect(stderr).toContain('outros arquivos')
    expect(readdirSync(inFolder('fotos'))).toEqual(['a.jpg'])
  })

  it('is refused as a database, and untouched', async () => {
    const db = new DatabaseSync(inFolder('outro.db'))
    db.exec('CREATE TABLE clientes (id)')
    db.close()
    const before = readFileSync(inFolder('outro.db'))
    const { code, stderr } = await sync('sqlite:outro.db')
    expect(code).toBe(1)
    expect(stderr).toContain('outro programa')
    expect(readFileSync(inFolder('outro.db')).equals(before)).toBe(true)
    expect(readdirSync(service.folder).filter((name) => name.startsWith('outro.db'))).toEqual([
      'outro.db',
    ])
  })
})

describe('a copy since an instant', () => {
  it('has only what changed from there on', async () => {
    const instants = (await service.listed()).flatMap(({ updated_at }) => updated_at ?? []).sort()
    const since = instants[Math.floor(instants.length / 2)] ?? ''
    expect((await sync('recentes', '--since', since)).code).toBe(0)
    const copied = await copiedOrders(inFolder('recentes'))
    expect(copied.size).toBe(instants.filter((instant) => instant >= since).length)
  })
})

describe('a copy that is watched', () => {
  it('follows changes, survives an outage that it tells once, and ends with its key', async () => {
    const key = await service.createKey()
    const child = startOrders(
      ['sync', 'vigiada', '--watch', '--interval', '1s'],
      place({ ORDERS_API_KEY: key }),
    )
    const finished = finish(child)
    let stdout = ''
    child.stdout.on('data', (chunk) => (stdout += chunk))
    const lines = () => stdout.split('\n').length - 1
    await expect.poll(lines, { timeout: 20_000 }).toBe(1)

    const [order] = service.visible().filter(({ changed_at }) => changed_at !== null)
    if (order === undefined) throw new Error('no order')
    await service.write([changed(order, ++times)])
    await expect.poll(lines, { timeout: 20_000 }).toBe(2)
    const copied = await copiedOrders(inFolder('vigiada'))
    expect(copied.get(order.id)?.amount_total).toBe(order.amount_total + times)

    await service.stop()
    await new Promise((resolve) => setTimeout(resolve, 4_000))
    await service.restart(FAST)
    await service.write([changed(order, ++times)])
    await expect.poll(lines, { timeout: 60_000 }).toBe(3)

    await service.revokeKeys()
    const { code, stderr } = await finished
    expect(code).toBe(1)
    expect(stderr.match(/esperando/g)).toHaveLength(1)
    expect(stderr).toContain('Chave de API')
    service.env.ORDERS_API_KEY = await service.createKey()
  })

  it('ends in order when it is told to', async () => {
    const child = startOrders(['sync', 'parada', '--watch'], place())
    const finished = finish(child)
    await once(child.stdout, 'data')
    child.kill('SIGTERM')
    const { code, stderr } = await finished
    expect(code).toBe(143)
    expect(stderr).toContain('orders sync parada --watch')
    expect(readdirSync(inFolder('parada/.sync')).filter((name) => name.startsWith('lock'))).toEqual(
      [],
    )
  })
})
