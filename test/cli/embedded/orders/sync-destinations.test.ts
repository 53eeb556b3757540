import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  beginOrders,
  finish,
  runOrders,
  spawnOrders,
} from '../../../support/orders-cli/orders-cli.ts'
import {
  changed,
  erased,
  type OrdersService,
  openOrdersService,
} from '../../../support/orders-cli/orders-service.ts'
import { readSyncedOrders } from '../../../support/orders-cli/synced-orders.ts'

let service: OrdersService
/** Increases with every change, so that each version is newer than the last. */
let times = 1
beforeAll(async () => {
  service = await openOrdersService(400)
})
afterAll(() => service.close())
afterEach(() => service.release())

const place = (env: Record<string, string> = {}) => ({
  cwd: service.folder,
  env: { ...service.env, ...env },
})
const inFolder = (name: string) => join(service.folder, name)
const sync = (...args: string[]) => runOrders(['sync', ...args], place())

describe.each([
  ['folder', 'pasta'],
  ['database', 'sqlite:banco.db'],
])('orders sync to a %s', (_kind, destination) => {
  const locks = () =>
    readdirSync(service.folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.includes('lock-'),
    )

  it('prints a summary on stdout', async () => {
    const listed = await service.listed()
    const { code, stdout } = await sync(destination)
    expect(code).toBe(0)
    expect(stdout).toMatch(
      new RegExp(
        `^${listed.length} pedidos lidos \\(${listed.length} novos ou alterados\\), 0 removidos; cópia em dia até 20.*Z\\n$`,
      ),
    )
  })

  it('rejects another key without --accept-new-key', async () => {
    const key = await service.createKey()
    const other = () => runOrders(['sync', destination], place({ ORDERS_API_KEY: key }))
    const rejected = await other()
    expect(rejected.code).toBe(2)
    expect(rejected.stderr).toContain('--accept-new-key')
    const flags = ['sync', destination, '--accept-new-key']
    expect((await runOrders(flags, place({ ORDERS_API_KEY: key }))).code).toBe(0)
    expect((await other()).code).toBe(0)
    expect((await sync(destination, '--accept-new-key')).code).toBe(0)
  })

  it('repeats --accept-new-key in its hint until a page is saved with the new key', async () => {
    const flags = ['sync', destination, '--accept-new-key']
    const refused = await runOrders(flags, place({ ORDERS_API_KEY: 'key_live_wrong' }))
    expect(refused.stderr).toContain(`Para continuar:\n  orders ${flags.join(' ')}\n`)

    service.pauseAfter(2) // The account and a page.
    const run = beginOrders(flags, place({ ORDERS_API_KEY: await service.createKey() }))
    await expect.poll(service.waiting).toBe(1)
    run.interrupt()
    expect((await run.finished).stderr).toContain(`Para continuar:\n  orders sync ${destination}\n`)
    service.release()
    expect((await sync(destination, '--accept-new-key')).code).toBe(0)
  })

  it('removes an erased order at the next full sync', async () => {
    const order = service.visible().at(-1)
    if (order === undefined) throw new Error('no order')
    await service.write([erased(order, ++times)])
    expect((await sync(destination, '--all')).stdout).toContain(', 1 removido;')
    await service.write([changed(order, ++times)])
    expect((await sync(destination, '--all')).stdout).toContain('(1 novo ou alterado)')
  })

  it('warns that a later --since is ignored', async () => {
    const { code, stderr } = await sync(destination, '--since', '2026-01-01T00:00:00Z')
    expect(code).toBe(0)
    expect(stderr).toContain('--since vale só na primeira vez: esta cópia tem todos os pedidos')
  })

  it('excludes a second process, and continues after the first one was killed', async () => {
    service.pauseAfter(1)
    const child = spawnOrders(['sync', destination, '--all'], place())
    // It holds the lock by now. Before, both could retry, and the second one win.
    await expect.poll(service.waiting).toBe(1)
    expect(locks()).toHaveLength(1)
    const second = await sync(destination)
    expect(second.code).toBe(1)
    expect(second.stderr).toContain(`Outro processo já sincroniza`)
    child.kill('SIGKILL')
    await once(child, 'close')
    await expect.poll(locks).toEqual([])
    service.release()
    expect((await sync(destination)).code).toBe(0)
  })

  it('prints the command that continues an interrupted sync', async () => {
    service.pauseAfter(1)
    const run = beginOrders(['sync', destination, '--all'], place())
    await expect.poll(locks).toHaveLength(1)
    run.interrupt('SIGINT')
    const { code, stderr } = await run.finished
    expect(code).toBe(130)
    expect(stderr).toContain(`Para continuar:\n  orders sync ${destination} --all\n`)
    service.release()
    expect((await sync(destination, '--all')).code).toBe(0)
    expect(
      (await readSyncedOrders(destination.replace(/^(sqlite:)?/, `$1${service.folder}/`))).size,
    ).toBe((await service.listed()).length)
  })
})

describe('a destination of orders sync with other content', () => {
  it('a destination of orders sync with other content is rejected as a folder, and stays unchanged', async () => {
    mkdirSync(inFolder('fotos'))
    writeFileSync(inFolder('fotos/a.jpg'), 'x')
    const { code, stderr } = await sync('fotos')
    expect(code).toBe(1)
    expect(stderr).toContain('outros arquivos')
    expect(readdirSync(inFolder('fotos'))).toEqual(['a.jpg'])
  })

  it('a destination of orders sync with other content is rejected as a database, and stays unchanged', async () => {
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

describe('orders sync --since', () => {
  it('saves only orders updated since then', async () => {
    const instants = (await service.listed()).flatMap(({ updated_at }) => updated_at ?? []).sort()
    const since = instants[Math.floor(instants.length / 2)] ?? ''
    expect((await sync('recentes', '--since', since)).code).toBe(0)
    const synced = await readSyncedOrders(inFolder('recentes'))
    expect(synced.size).toBe(instants.filter((instant) => instant >= since).length)
  })

  it.each(['2026-03-01T00:00-03', '2026-03-01T00:00:00-0300', '2026-03-01T03:00:00.0005Z'])(
    'accepts %s as the API does, and the same one again',
    async (since) => {
      const syncs = [await sync(`desde ${since}`, '--since', since)]
      syncs.push(await sync(`desde ${since}`, '--since', since))
      expect(syncs).toMatchObject([
        { code: 0, stderr: '' },
        { code: 0, stderr: '' },
      ])
    },
  )
})

describe('orders sync --watch', () => {
  it('follows changes, reports an outage once, and ends when its key is revoked', async () => {
    const key = await service.createKey()
    const args = ['sync', 'vigiada', '--watch', '--interval', '1s']
    const run = beginOrders(args, place({ ORDERS_API_KEY: key }))
    const lines = () => run.output().stdout.split('\n').length - 1
    await expect.poll(lines).toBe(1)

    const [order] = service.visible().filter(({ changed_at }) => changed_at !== null)
    if (order === undefined) throw new Error('no order')
    await service.write([changed(order, ++times)])
    await expect.poll(lines).toBe(2)
    const synced = await readSyncedOrders(inFolder('vigiada'))
    expect(synced.get(order.id)?.amount_total).toBe(order.amount_total + times)

    const notices = () => run.output().stderr.match(/esperando/g)?.length ?? 0
    service.fail()
    await expect.poll(notices).toBe(1)
    await expect.poll(service.resets).toBeGreaterThan(3)
    service.restore()
    await service.write([changed(order, ++times)])
    await expect.poll(lines, { timeout: 60_000 }).toBe(3)
    // On a busy machine, the status of a slow page follows.
    expect(run.output().stderr).toMatch(/esperando .*\nA API voltou a responder\.\n/)

    await service.revokeKeys()
    const { code, stderr } = await run.finished
    expect(code).toBe(1)
    expect(notices()).toBe(1)
    expect(stderr).toContain('Chave de API')
    service.env.ORDERS_API_KEY = await service.createKey()
  })

  it('ends when its database was deleted, without a command that would continue', async () => {
    const run = beginOrders(['sync', 'sqlite:vigiada.db', '--watch', '--interval', '1s'], place())
    await expect.poll(() => run.output().stdout).toContain('cópia em dia')
    rmSync(inFolder('vigiada.db'))
    const { code, stderr } = await run.finished
    expect(code).toBe(1)
    expect(stderr).toBe(
      'vigiada.db foi apagado, movido ou trocado durante a sincronização: sincronize de novo.\n',
    )
  })

  it('releases its lock and exits 143 at a SIGTERM', async () => {
    const child = spawnOrders(['sync', 'parada', '--watch'], place())
    const finished = finish(child)
    await once(child.stdout, 'data')
    child.kill('SIGTERM')
    const { code, stderr } = await finished
    expect(code).toBe(143)
    expect(stderr).toMatch(/node \S+ sync parada --watch\n$/)
    expect(readdirSync(inFolder('parada/.sync')).filter((name) => name.startsWith('lock'))).toEqual(
      [],
    )
  })
})
