import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  finish,
  ordersInShell,
  runShell,
  spawnOrders,
  startOnTerminal,
} from '../../../support/orders-cli/orders-cli.ts'
import {
  type OrdersService,
  openOrdersService,
} from '../../../support/orders-cli/orders-service.ts'

/** The escape sequence that erases the status line. */
const WIPE = '\r\x1b[K'

let service: OrdersService
beforeAll(async () => {
  service = await openOrdersService(300)
})
afterAll(() => service.close())

/**
 * Runs a command on a terminal without a key in its environment, and types `keys` at the prompt.
 */
async function typing(keys: string, args: string) {
  const place = { cwd: service.folder, env: { ORDERS_API_URL: service.baseUrl } }
  const child = startOnTerminal(ordersInShell(args), place)
  let screen = ''
  child.stdout.on('data', (chunk) => {
    const isPrompted = screen.includes('digita): ')
    screen += chunk
    if (!isPrompted && screen.includes('digita): ')) child.stdin.write(keys)
  })
  const code = await new Promise((resolve) => child.on('close', resolve))
  return { code, screen }
}

describe('the API key of orders', () => {
  it('the API key of orders is read from a terminal prompt without an echo', async () => {
    const { code, screen } = await typing(`${service.key}\r`, 'export --format csv --out typed.csv')
    expect(code, screen).toBe(0)
    expect(screen).toMatch(/^Chave de API \(não aparece enquanto você digita\): \r\n/)
    expect(screen).not.toContain(service.key.slice(0, 12))
    expect(
      readFileSync(`${service.folder}/typed.csv`, 'utf8').split('\r\n').length,
    ).toBeGreaterThan(200)
  })

  it('the API key of orders is read from the terminal also when stdin and stdout are redirected', async () => {
    const list = 'export --format ndjson < /dev/null > piped.ndjson'
    const { code, screen } = await typing(`${service.key}\r`, list)
    expect(code, screen).toBe(0)
    expect(readFileSync(`${service.folder}/piped.ndjson`, 'utf8')).toMatch(/^\{"object":"order"/)
  })

  it('the prompt for the API key ends with exit code 130 at Ctrl-C', async () => {
    const { code, screen } = await typing('key_li\u0003', 'export --format csv --out never.csv')
    expect(code).toBe(130)
    expect(screen).toContain('Interrompido.')
  })

  it('the API key of orders appears neither in the process list nor in the state file', async () => {
    service.pauseAfter(1)
    const place = { cwd: service.folder, env: service.env }
    const child = spawnOrders(['export', '--format', 'csv', '--out', 'listed.csv'], place)
    const state = () =>
      runShell(`cat listed.csv.part.json; tr '\\0' ' ' < /proc/${child.pid}/cmdline`, place)
    await expect.poll(async () => (await state()).stdout).toMatch(/"version":1.*export/s)
    expect((await state()).stdout).not.toContain('key_live')
    child.kill('SIGTERM')
    await finish(child)
    service.release()
  })

  it('the API key of orders is required when there is no terminal for a prompt', async () => {
    const place = { cwd: service.folder, env: { ORDERS_API_URL: service.baseUrl } }
    const line = `setsid --wait ${ordersInShell('export --format csv')}`
    const { code, stderr } = await runShell(line, place)
    expect(code).toBe(1)
    expect(stderr).toContain('ORDERS_API_KEY')
  })
})

it('orders export shows its progress on a terminal', async () => {
  service.delay(300)
  const child = startOnTerminal(ordersInShell('export --format csv --out progress.csv'), {
    cwd: service.folder,
    env: service.env,
  })
  const screen = await text(child.stdout)
  expect(screen.replaceAll(WIPE, '|')).toMatch(/\d+ pedidos · [\d.]+\/s\|/)
  expect(screen).toMatch(/\d+ pedidos em progress\.csv \([\d.,]+ kB, [\d.,]+ s\)\r\n$/)
})
