import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  finish,
  ordersInShell,
  runOrders,
  runShell,
  startOrders,
} from '../../support/orders-cli/orders-command.ts'
import {
  FAST,
  type OrdersService,
  openOrdersService,
  SLOW,
} from '../../support/orders-cli/orders-service.ts'

const CSV = ['export', '--format', 'csv-br', '--out', 'pedidos de hoje.csv'] as const
const FILE = 'pedidos de hoje.csv'
const AGAIN = `orders export --resume --format csv-br --out '${FILE}'`

let service: OrdersService
let whole: Buffer
beforeAll(async () => {
  service = await openOrdersService(1_500, FAST)
  await runOrders(CSV, place())
  whole = readFileSync(path(FILE))
  clean()
})
afterAll(() => service.close())

const place = (env: Record<string, string> = {}) => ({
  cwd: service.folder,
  env: { ...service.env, ...env },
})
const path = (name: string) => join(service.folder, name)
const beside = () =>
  readdirSync(service.folder)
    .filter((name) => name.startsWith(FILE))
    .sort()
function clean() {
  for (const name of beside()) rmSync(path(name))
}
const ordersInPart = () => {
  const state = path(`${FILE}.part.json`)
  return existsSync(state) ? JSON.parse(readFileSync(state, 'utf8')).orders : 0
}

/** An export that is in the middle, from a service that gives it a page a second. */
async function startSlowly() {
  await service.restart(SLOW)
  const child = startOrders(CSV, place())
  await vi.waitUntil(() => ordersInPart() >= 200, { timeout: 30_000, interval: 50 })
  return child
}

/** Leaves an unfinished export behind. */
async function interrupt() {
  const child = await startSlowly()
  child.kill('SIGKILL')
  await once(child, 'close')
  await service.restart(FAST)
}

describe('an export that was cut off', () => {
  afterEach(clean)

  it('is gone on with after a SIGKILL, and is the same file byte for byte', async () => {
    await interrupt()
    const before = ordersInPart()
    expect(beside()).not.toContain(FILE)
    const { code, stderr } = await runOrders([...CSV, '--resume'], place())
    expect(code, stderr).toBe(0)
    expect(before).toBeLessThan(1_300)
    expect(readFileSync(path(FILE)).equals(whole)).toBe(true)
    expect(beside()).toEqual([FILE])
  })

  it('is cut back to its last page before', async () => {
    await interrupt()
    writeFileSync(path(`${FILE}.part`), 'torn;'.repeat(1_000_000), { flag: 'a' })
    expect((await runOrders([...CSV, '--resume'], place())).code).toBe(0)
    expect(readFileSync(path(FILE)).equals(whole)).toBe(true)
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('by %s says how to go on, and exits %i', async (signal, exitCode) => {
    const child = await startSlowly()
    const finished = finish(child)
    child.kill(signal)
    const { code, stderr } = await finished
    expect(code).toBe(exitCode)
    expect(stderr).toContain(`Interrompido.\nPedidos já guardados em ${FILE}.part: `)
    expect(stderr).toContain(`  ${AGAIN}\n`)
    expect(beside()).toEqual([`${FILE}.part`, `${FILE}.part.json`])
    await service.restart(FAST)
    const pasted = await runShell(AGAIN.replace('orders', ordersInShell('')), place())
    expect(pasted.code, pasted.stderr).toBe(0)
    expect(readFileSync(path(FILE)).equals(whole)).toBe(true)
  })

  it('by a key that was revoked says so, and goes on with another one', async () => {
    const child = await startSlowly()
    const finished = finish(child)
    await service.revokeKeys()
    const { code, stderr } = await finished
    expect(code).toBe(1)
    expect(stderr).toMatch(/Chave de API.*\(requisição req_\w+\)/)
    expect(stderr).toContain(`Com uma chave que valha, continue com:\n  ${AGAIN}\n`)
    expect(beside()).not.toContain(FILE)
    await service.restart(FAST)
    service.env.ORDERS_API_KEY = await service.createKey()
    expect((await runOrders([...CSV, '--resume'], place())).code).toBe(0)
    expect(readFileSync(path(FILE)).equals(whole)).toBe(true)
  })
})

describe('an export that is unfinished', () => {
  beforeAll(interrupt)
  afterAll(clean)

  it('is neither thrown away nor gone on with unless that is asked for', async () => {
    const orders = ordersInPart()
    const { code, stderr } = await runOrders(CSV, place())
    expect(code).toBe(1)
    expect(stderr).toContain('repita o comando com --resume')
    expect(stderr).toContain(`apague ou mova ${FILE}.part`)
    expect(ordersInPart()).toBe(orders)
  })

  it('is not gone on with when something else is asked for', async () => {
    const orders = ordersInPart()
    const other = [...CSV, '--status', 'PAID', '--resume']
    const { code, stderr } = await runOrders(other, place())
    expect(code).toBe(1)
    expect(stderr).toContain('--status era nenhum, agora é PAID')
    expect(ordersInPart()).toBe(orders)
  })

  it('is kept when its cursor is another account’s', async () => {
    const orders = ordersInPart()
    const key = await service.createKey('acc_other')
    const { code, stderr } = await runOrders([...CSV, '--resume'], place({ ORDERS_API_KEY: key }))
    expect(code).toBe(1)
    expect(stderr).toMatch(/não aceita mais o ponto .* repita o comando sem --resume/)
    expect(ordersInPart()).toBe(orders)
  })

  it('is not gone on with when its part is shorter than it was', async () => {
    writeFileSync(path(`${FILE}.part`), 'id;')
    const { code, stderr } = await runOrders([...CSV, '--resume'], place())
    expect(code).toBe(1)
    expect(stderr).toContain('foi mexido')
  })
})

describe('an export', () => {
  afterEach(clean)

  it('begins where there is nothing to go on with, and says so', async () => {
    const { code, stderr } = await runOrders([...CSV, '--resume'], place())
    expect(code).toBe(0)
    expect(stderr).toContain('começando do início')
    expect(readFileSync(path(FILE)).equals(whole)).toBe(true)
  })

  it('keeps a second one off the same file', async () => {
    const child = await startSlowly()
    const second = await runOrders([...CSV, '--resume'], place())
    expect(second.code).toBe(1)
    expect(second.stderr).toContain(
      `Outro processo já exporta para ${FILE}. (É o processo ${child.pid}.)`,
    )
    child.kill('SIGKILL')
    await once(child, 'close')
    await service.restart(FAST)
    expect((await runOrders([...CSV, '--resume'], place())).code).toBe(0)
    expect(readFileSync(path(FILE)).equals(whole)).toBe(true)
  })

  it('leaves the file of before in its place until it is whole', async () => {
    writeFileSync(path(FILE), 'ontem')
    await interrupt()
    expect(readFileSync(path(FILE), 'utf8')).toBe('ontem')
    expect((await runOrders([...CSV, '--resume'], place())).code).toBe(0)
    expect(readFileSync(path(FILE)).equals(whole)).toBe(true)
  })

  it('that fails before its first page leaves nothing behind', async () => {
    const { code } = await runOrders(CSV, place({ ORDERS_API_KEY: 'key_live_none' }))
    expect(code).toBe(1)
    expect(beside()).toEqual([])
  })

  it('goes on when the service is away for a moment', async () => {
    const child = await startSlowly()
    const finished = finish(child)
    await service.restart(FAST)
    const { code, stderr } = await finished
    expect(code, stderr).toBe(0)
    expect(readFileSync(path(FILE)).equals(whole)).toBe(true)
  })
})

describe('a disk that is full', () => {
  afterEach(clean)

  it('ends an export to a file, which is gone on with elsewhere in time', async () => {
    const limited = await runShell(
      `ulimit -f 400; ${ordersInShell(`${CSV.slice(0, -1).join(' ')} '${FILE}'`)}`,
      place(),
    )
    expect(limited.code).toBe(1)
    expect(limited.stderr).toContain('tamanho máximo')
    expect(limited.stderr).toContain(`  ${AGAIN}\n`)
    expect(beside()).toEqual([`${FILE}.part`, `${FILE}.part.json`])
    expect((await runOrders([...CSV, '--resume'], place())).code).toBe(0)
    expect(readFileSync(path(FILE)).equals(whole)).toBe(true)
  })

  it('ends an export to stdout', async () => {
    const { code, stderr } = await runShell(
      `${ordersInShell('export --format csv')} > /dev/full`,
      place(),
    )
    expect(code).toBe(1)
    expect(stderr).toContain('O disco está cheio')
  })
})

it('a reader who has seen enough ends an export quietly', async () => {
  const line = `${ordersInShell('export --format ndjson')} | head -n 1; echo "\${PIPESTATUS[0]}"`
  const { stdout, stderr } = await runShell(line, place())
  expect(stdout.trim().split('\n').at(-1)).toBe('0')
  expect(stderr).toBe('')
})
